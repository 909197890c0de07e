import Sharing
import SystemCalls

/// Reads the output of a program as one file.
final class ProgramReading: ItemReading {
    private let program: ChildProgram
    private let origin: String
    /// The number of bytes that the program has promised; nil if none.
    private let size: UInt64?
    private var count: UInt64 = 0
    private var hasBegun = false
    private var hasEnded = false

    init(_ program: ChildProgram, origin: String, size: UInt64?) {
        (self.program, self.origin, self.size) = (program, origin, size)
    }

    deinit {
        program.end()
    }

    func next() -> ContentStep? {
        if hasBegun {
            precondition(hasEnded, "the file was not read to its end")
            return nil
        }
        hasBegun = true
        return .file(FileEntry(path: nil, executable: false, modified: nil, size: size))
    }

    func seek(to offset: UInt64) throws(SourceError) {
        throw .at(origin, .unreadable, "makes its item from the beginning only; start the command again")
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        if hasEnded { return 0 }
        let read: Int?
        do throws(SystemError) {
            read = try program.read(into: buffer) { Task.isCancelled }
        } catch {
            throw .at(origin, .unreadable, "cannot be read (\(error))")
        }
        guard let read else { throw .at(origin, .unreadable, "was not read to its end") }
        count += UInt64(read)
        if let size, count > size { throw .changed(origin, "it made more bytes than the \(size) that it had promised") }
        if read == 0 { try end() }
        return read
    }

    /// The item is whole if the program says so.
    private func end() throws(SourceError) {
        try program.end(makingItemOf: origin)
        if let size, count < size {
            throw .changed(origin, "it made \(count) bytes of the \(size) that it had promised")
        }
        hasEnded = true
    }
}

extension ChildProgram {
    /// How long a program may run on after the end of its output.
    private static let endTime = Duration.seconds(10)

    /// Waits for the end of a program whose output was read.
    /// - Throws: `SourceError` if it does not say that its item is whole.
    func end(makingItemOf origin: String) throws(SourceError) {
        let end = ContinuousClock.now + Self.endTime
        switch wait(isOver: { ContinuousClock.now >= end || Task.isCancelled }) {
        case .code(0)?: break
        case let exit?: throw .at(origin, .unreadable, "did not make its item: \(exit)")
        case nil: throw .at(origin, .unreadable, "does not end after its item")
        }
    }
}
