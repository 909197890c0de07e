import Glibc
package import Sharing
import Synchronization
import SystemCalls
package import UniformTypes

/// Piped input: of unknown size, and readable only once.
package final class StandardInputSource: ItemSource {
    package let offered: OfferedItem
    package let origin: String

    private let descriptor: Int32
    private let wasOpened = Atomic(false)

    /// - Parameters:
    ///   - descriptor: open for reading during the life of this object, which does not close it.
    ///   - name: nil for `piped-2026-11-21-100000`, after the local time, with the extension of the type.
    ///   - type: nil for the type by the name's extension, or `public.data`.
    /// - Throws: `SourceError.unreadable` if the descriptor cannot be read.
    package init(
        descriptor: Int32 = STDIN_FILENO,
        name: SafeName? = nil,
        type: UniformType? = nil,
        registry: TypeRegistry = .system,
        origin: String = "-"
    ) throws(SourceError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw SourceError(.unreadable, "standard input cannot be read (\(SystemError.last)); pipe something in")
        }
        guard fcntl(descriptor, F_GETFL) & O_ACCMODE != O_WRONLY else {
            throw SourceError(.unreadable, "standard input is closed; pipe something in")
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw SourceError(.unreadable, "standard input is a folder; give its path instead of -")
        }
        self.descriptor = descriptor
        self.origin = origin
        self.offered = OfferedItem(
            kind: .file,
            name: name ?? Self.name(for: type, registry),
            type: type ?? name.map { registry.type(forFileName: $0.text, kind: .regularFile) } ?? .data,
            size: nil
        )
    }

    package var isRepeatable: Bool { false }

    package func open() throws(SourceError) -> any ItemReading {
        guard wasOpened.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else {
            throw SourceError(.unreadable, "standard input can be read only once; save it to a file and send that")
        }
        return DescriptorReading(descriptor)
    }

    private static func name(for type: UniformType?, _ registry: TypeRegistry) -> SafeName {
        var (now, parts) = (time(nil), tm())
        localtime_r(&now, &parts)
        var text = [CChar](repeating: 0, count: 32)
        strftime(&text, text.count, "piped-%Y-%m-%d-%H%M%S", &parts)
        let stem = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let extended = type.flatMap { registry.preferredExtension(for: $0) }.flatMap { try? SafeName("\(stem).\($0)") }
        return extended ?? (try? SafeName(stem)) ?? SafeName(literal: "piped")
    }
}

/// Reads standard input to its end, from a pipe or any other file.
private final class DescriptorReading: ItemReading {
    private let descriptor: Int32
    private var hasBegun = false
    private var hasEnded = false

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Ctrl-C reaches every program of a pipeline. The preceding program may end before this one handles the signal;
    /// then the end of the input is no real end. This wait (microseconds) gives the signal handler time to act first.
    private static let interruptionLag: UInt32 = 200_000

    private func end() {
        usleep(Self.interruptionLag)
        hasEnded = true
    }

    func next() -> ContentStep? {
        if hasBegun {
            precondition(hasEnded, "the file was not read to its end")
            return nil
        }
        hasBegun = true
        return .file(FileEntry(path: nil, executable: false, modified: nil, size: nil))
    }

    func seek(to offset: UInt64) throws(SourceError) {
        throw SourceError(.unreadable, "standard input can be read only once; save it to a file and send that")
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        if hasEnded { return 0 }
        while true {
            try waitForInput()
            do {
                let count = try systemCall { Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
                if count == 0 { end() }
                return count
            } catch  where error.number == EAGAIN {
                // The parent shares the descriptor and may have set it to non-blocking.
                continue
            } catch {
                throw SourceError(.unreadable, "standard input cannot be read (\(error))")
            }
        }
    }

    /// Time between two checks for cancellation, in milliseconds.
    private static let cancellationInterval: Int32 = 100

    /// Returns when input is available, or the input has ended.
    /// - Throws: `SourceError.unreadable` when the task is cancelled: a pipe may stay silent forever.
    private func waitForInput() throws(SourceError) {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, Self.cancellationInterval) <= 0 {
            if Task.isCancelled { throw SourceError(.unreadable, "standard input was not read to its end") }
        }
    }
}
