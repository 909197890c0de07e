import Glibc

/// The `errno` of a failed system call.
struct CallError: Error, Hashable {
    let number: Int32

    static var last: CallError { CallError(number: errno) }
    static let refused = CallError(number: EPERM)
}

/// The memory of a thread that waits for the answer to a system call.
struct CallerMemory: ~Copyable {
    private static let pageSize: UInt64 = 4096

    /// Owned.
    private let file: Int32

    /// - Throws: `CallError` EPERM if this process may not read that memory.
    init(thread: pid_t) throws(CallError) {
        file = open("/proc/\(thread)/mem", O_RDONLY | O_CLOEXEC)
        if file < 0 { throw .refused }
    }

    deinit { close(file) }

    /// - Throws: `CallError` EFAULT if not all bytes are readable.
    func bytes(at address: UInt64, count: Int) throws(CallError) -> [UInt8] {
        guard count > 0 else { return [] }
        guard let offset = Int(exactly: address) else { throw CallError(number: EFAULT) }
        var bytes = [UInt8](repeating: 0, count: count)
        guard pread(file, &bytes, count, offset) == count else { throw CallError(number: EFAULT) }
        return bytes
    }

    /// The bytes before the first NUL.
    ///
    /// - Throws: `CallError`: `tooLong` if the first `maximum` bytes have no NUL, EFAULT if they are not readable.
    func text(at address: UInt64, maximum: Int, tooLong: Int32) throws(CallError) -> [UInt8] {
        var text: [UInt8] = []
        var next = address
        while text.count < maximum {
            // Read only to the end of the page: the next page may not be mapped.
            let rest = Int(Self.pageSize - next % Self.pageSize)
            let piece = try bytes(at: next, count: min(rest, maximum - text.count))
            if let end = piece.firstIndex(of: 0) { return text + piece[..<end] }
            text += piece
            next &+= UInt64(piece.count)
        }
        throw CallError(number: tooLong)
    }

    /// An 8-byte number, little-endian.
    func number(at address: UInt64) throws(CallError) -> Int64 {
        try bytes(at: address, count: 8).enumerated().reduce(0) { $0 | Int64($1.element) << (8 * $1.offset) }
    }
}
