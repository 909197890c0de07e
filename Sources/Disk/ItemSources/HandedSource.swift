import CLinuxShims
import Glibc
package import Sharing
import Synchronization
import SystemCalls
package import UniformTypes

/// Bytes that are handed over while they are read: a pipe within this process.
final class HandedPipe: ItemBytes, HandedBytes {
    private let reading: FileDescriptor
    /// -1 once it is closed.
    private let writing: Mutex<Int32>
    private let isWhole = Atomic(false)

    /// `F_SETPIPE_SZ`, which the Glibc module does not export.
    private static let setPipeSize: Int32 = 1_031

    /// - Throws: the error of pipe(2).
    init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        try systemCall { CLinuxShims_pipe(&ends) }
        reading = FileDescriptor(owning: ends[0])
        writing = Mutex(ends[1])
        try systemCall { fcntl(ends[1], F_SETFL, O_NONBLOCK) }
        // A smaller pipe is slower, and does too.
        _ = fcntl(ends[1], Self.setPipeSize, Int32(1 << 20))
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> Int? {
        writing.withLock { writing in
            guard writing >= 0 else { return nil }
            while true {
                let count = Glibc.write(writing, bytes.baseAddress, bytes.count)
                if count >= 0 { return count }
                if errno == EAGAIN { return 0 }
                if errno != EINTR { return nil }
            }
        }
    }

    func finish(isWhole: Bool) {
        if isWhole { self.isWhole.store(true, ordering: .releasing) }
        end()
    }

    deinit { end() }

    private static let pollInterval: Int32 = 100

    func read(into buffer: UnsafeMutableRawBufferPointer, isOver: () -> Bool) throws(SystemError) -> Int? {
        var waiting = pollfd(fd: reading.raw, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, Self.pollInterval) <= 0 {
            if isOver() { return nil }
        }
        return try systemCall { Glibc.read(reading.raw, buffer.baseAddress, buffer.count) }
    }

    func end(makingItemOf origin: String) throws(SourceError) {
        guard isWhole.load(ordering: .acquiring) else {
            throw .at(origin, .unreadable, "was not handed over to its end")
        }
    }

    func end() {
        writing.withLock { writing in
            if writing >= 0 { close(writing) }
            writing = -1
        }
    }
}

/// An item whose bytes another part of this process hands over, once, when a peer has accepted it.
package final class HandedSource: ItemSource {
    package let offered: OfferedItem
    package var origin: String { offered.name.text }

    private let want: @Sendable (any HandedBytes) -> Void
    private let wasOpened = Atomic(false)

    /// - Parameters:
    ///   - kind: `file`, or `tree` for a folder, whose bytes are a tar archive.
    ///   - size: bytes; nil if they are not known. Of a folder: of all its files.
    ///   - entries: of a folder: its files, folders and links, itself included.
    ///   - want: called when the bytes are to come.
    /// - Throws: `SourceError` for a name or size that cannot be offered.
    package init(
        name: String, kind: ItemKind, size: UInt64?, entries: UInt64?, registry: TypeRegistry = .system,
        want: @escaping @Sendable (any HandedBytes) -> Void
    ) throws(SourceError) {
        var placeholder = Placeholder(name: name)
        (placeholder.kind, placeholder.size, placeholder.entries) = (kind == .tree ? .tree : .file, size, entries)
        do throws(PlaceholderError) {
            offered = try placeholder.offered(registry)
        } catch {
            throw SourceError(.unreadable, "\(PathText.printable(name, limit: 400)): \(error.clause)")
        }
        self.want = want
    }

    package var isRepeatable: Bool { false }

    package func open() throws(SourceError) -> any ItemReading {
        guard wasOpened.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else {
            throw .at(origin, .unreadable, "is handed over once only; send it again")
        }
        let bytes: HandedPipe
        do throws(SystemError) {
            bytes = try HandedPipe()
        } catch {
            throw .at(origin, .unreadable, "cannot be read (\(error))")
        }
        want(bytes)
        guard offered.kind == .tree else { return StreamReading(bytes, origin: origin, size: offered.size) }
        return try TarReading(bytes, origin: origin, size: offered.size ?? 0, entries: offered.entries ?? 1)
    }
}
