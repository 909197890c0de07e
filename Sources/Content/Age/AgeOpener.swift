internal import COpenSSL
internal import Secrets

/// Opens one age file as a stream.
///
/// Contents are given out only when the tag of their chunk is right. Whether the file is complete is known at its end:
/// contents that were given out before an error are authentic, but not all.
package struct AgeOpener: ~Copyable {
    /// Fills the start of the buffer with the next bytes of the file, and returns their number; 0 at the end.
    package typealias Reader = (UnsafeMutableRawBufferPointer) throws -> Int

    /// Chunks that are given out together, at most.
    private static let maximumRun = 4
    /// One byte more tells that a chunk follows.
    private static let roomBytes = maximumRun * AgeLayout.sealedChunkBytes + 1

    /// The header of the file, whose authentication was right.
    package let header: AgeHeader
    /// Content bytes that were given out.
    package private(set) var contentBytes = 0

    private let read: Reader
    private var cipher: ChaCha20Poly1305
    private var chunks: UInt64 = 0
    private var input: Input
    private let contents: Contents
    /// The error that the next call throws.
    private var fault: AgeError?
    private var isFinished = false

    /// Reads the header, and opens it by one of `identities`.
    ///
    /// - Throws: `AgeError`, or the error of `read`.
    package init(identities: [AgeIdentity], read: @escaping Reader) throws {
        try self.init(read: read) { (header) throws(AgeError) in try header.fileKey(with: identities) }
    }

    /// - Parameter key: gives the file key of a header.
    init(read: @escaping Reader, key: (AgeHeader) throws(AgeError) -> SecretBytes) throws {
        let input = Input(Self.roomBytes)
        let header = try Self.header(input, read)
        let key = FileKey(bytes: try key(header))
        try input.fill(to: header.payloadOffset, by: read)
        guard input.count >= header.payloadOffset else { throw AgeError.truncated }
        let nonce = Array(input.bytes[header.length..<header.payloadOffset])
        input.drop(header.payloadOffset)
        cipher = try ChaCha20Poly1305(.opening, key: try key.chunkKey(nonce: nonce))
        self.header = header
        self.input = input
        self.read = read
        contents = Contents(Self.maximumRun * AgeLayout.chunkBytes)
    }

    /// Reads no more than it must: a header is mostly short.
    private static func header(_ input: Input, _ read: Reader) throws -> AgeHeader {
        var wanted = 1024
        while true {
            try input.fill(to: wanted, by: read)
            do throws(AgeError) {
                return try AgeHeader(parsing: input.bytes)
            } catch {
                guard error == .truncated, input.count == wanted, wanted < AgeHeader.maximumBytes else { throw error }
                wanted = min(wanted * 8, AgeHeader.maximumBytes)
            }
        }
    }

    /// Gives out the next contents.
    ///
    /// - Parameter body: takes them, at most 256 KiB and never none. They are valid during the call.
    /// - Returns: false at the end of a complete file; `body` was then not called.
    /// - Throws: `AgeError`, or the error of the reader or of `body`.
    package mutating func next(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        if let fault { throw fault }
        if isFinished { return false }
        try input.fill(to: Self.roomBytes, by: read)
        let isEnd = input.count < Self.roomBytes
        let available = isEnd ? input.count : Self.roomBytes - 1
        var consumed = 0
        var count = 0
        repeat {
            let chunk = min(AgeLayout.sealedChunkBytes, available - consumed)
            let isLast = isEnd && consumed + chunk == available
            count += open(
                UnsafeRawBufferPointer(rebasing: input.bytes[consumed..<(consumed + chunk)]), isLast: isLast, at: count)
            consumed += chunk
        } while fault == nil && consumed < available
        input.drop(consumed)
        if count > 0 {
            contentBytes += count
            try body(UnsafeRawBufferPointer(rebasing: contents.bytes[..<count]))
        } else if let fault {
            throw fault
        }
        return count > 0
    }

    /// Opens one chunk into `contents` at `place`.
    ///
    /// - Returns: the number of its contents; sets `fault` or `isFinished`.
    private mutating func open(_ chunk: UnsafeRawBufferPointer, isLast: Bool, at place: Int) -> Int {
        let count = chunk.count - AgeLayout.tagBytes
        guard count >= 0 else {
            fault = .truncated
            return 0
        }
        let room = contents.room(at: place, for: count)
        if cipher.open(chunk, ChaCha20Poly1305.Nonce(chunk: chunks, isLast: isLast), into: room) {
            if isLast {
                if count == 0, chunks > 0 { fault = .malformed("its last chunk is empty") } else { isFinished = true }
            }
        } else if chunk.count == AgeLayout.sealedChunkBytes,
            cipher.open(chunk, ChaCha20Poly1305.Nonce(chunk: chunks, isLast: !isLast), into: room)
        {
            // The chunk is authentic, but not where it stands.
            fault = isLast ? .truncated : .trailing
        } else {
            fault = .damaged
            return 0
        }
        chunks += 1
        return count
    }
}

/// Bytes of a file that were read and not yet opened.
private final class Input {
    private let room: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    private var isAtEnd = false

    init(_ capacity: Int) {
        room = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { room.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room[..<count]) }

    /// Reads until there are `wanted` bytes, or the file ends.
    func fill(to wanted: Int, by read: AgeOpener.Reader) throws {
        while count < wanted, !isAtEnd {
            let free = UnsafeMutableRawBufferPointer(rebasing: room[count..<wanted])
            let more = try read(free)
            precondition((0...free.count).contains(more), "a reader returns no more bytes than it has room for")
            isAtEnd = more == 0
            count += more
        }
    }

    /// Forgets the first bytes.
    func drop(_ first: Int) {
        let rest = UnsafeRawBufferPointer(rebasing: room[first..<count])
        room.copyMemory(from: rest)
        count = rest.count
    }
}

/// Room for opened contents, which are wiped at the end.
private final class Contents {
    let bytes: UnsafeMutableRawBufferPointer
    /// Bytes that have had contents: of a small file few, and the kernel gives no memory for the others.
    private var used = 0

    init(_ capacity: Int) {
        bytes = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        OPENSSL_cleanse(bytes.baseAddress, used)
        bytes.deallocate()
    }

    func room(at place: Int, for count: Int) -> UnsafeMutableRawPointer {
        precondition(place + count <= bytes.count, "contents fit into their room")
        used = max(used, place + count)
        return bytes.baseAddress! + place
    }
}
