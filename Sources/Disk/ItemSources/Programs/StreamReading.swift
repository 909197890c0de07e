import Sharing
import SystemCalls

/// The bytes of an item on their way to its reader: the output of a program, or what another part of this process hands
/// over.
protocol ItemBytes: AnyObject, Sendable {
    /// Reads bytes as soon as there are some.
    /// - Parameter isOver: asked every 0.1 s while there are none.
    /// - Returns: the number of bytes; 0 at the end, nil if it is over.
    /// - Throws: the error of read(2).
    func read(into buffer: UnsafeMutableRawBufferPointer, isOver: () -> Bool) throws(SystemError) -> Int?
    /// All bytes were read.
    /// - Throws: `SourceError` if its maker does not say that the item is whole.
    func end(makingItemOf origin: String) throws(SourceError)
    /// No more bytes are wanted.
    func end()
}

/// Reads bytes on their way as one file.
final class StreamReading: ItemReading {
    private let bytes: any ItemBytes
    private let origin: String
    /// The number of bytes that are promised; nil if none.
    private let size: UInt64?
    private var count: UInt64 = 0
    private var hasBegun = false
    private var hasEnded = false

    init(_ bytes: any ItemBytes, origin: String, size: UInt64?) {
        (self.bytes, self.origin, self.size) = (bytes, origin, size)
    }

    deinit {
        bytes.end()
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
            read = try bytes.read(into: buffer) { Task.isCancelled }
        } catch {
            throw .at(origin, .unreadable, "cannot be read (\(error))")
        }
        guard let read else { throw .at(origin, .unreadable, "was not read to its end") }
        count += UInt64(read)
        if let size, count > size { throw .changed(origin, "it made more bytes than the \(size) that it had promised") }
        if read == 0 { try end() }
        return read
    }

    /// The item is whole if its maker says so.
    private func end() throws(SourceError) {
        try bytes.end(makingItemOf: origin)
        if let size, count < size {
            throw .changed(origin, "it made \(count) bytes of the \(size) that it had promised")
        }
        hasEnded = true
    }
}

extension ChildProgram: ItemBytes {
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
