import Glibc
package import Sharing
import Synchronization
import SystemCalls
package import UniformTypes

/// An item that a program makes when a peer has accepted it.
///
/// The program is the user's own: it runs directly, unrestricted, and its standard error is the user's.
package final class ProgramSource: RecipientItemSource {
    package let offered: OfferedItem
    package let origin: String
    /// The subject that the program gives; one line, at most `Offer.subjectBytes`.
    package let subject: String?
    /// Whether the program can make the item more than once.
    package let isForMany: Bool

    /// Whether the program promises a thumbnail.
    let hasThumbnail: Bool

    let path: String
    let activity: String
    private let recipient: @Sendable () -> ItemRecipient?
    private let wasOpened = Atomic(false)

    private static let placeholderTime = Duration.seconds(10)

    /// Asks the program for its placeholder, which blocks for at most 10 seconds.
    ///
    /// - Parameters:
    ///   - path: of the program.
    ///   - activity: the type of the activity for which it is asked, such as `org.waft.activity.airdrop`.
    /// - Returns: nil if the program has nothing to share.
    /// - Throws: `SourceError`.
    package static func asking(
        _ path: String, activity: String, registry: TypeRegistry = .system
    ) throws(SourceError) -> ProgramSource? {
        // A path, and never a name that is searched for.
        let executable = path.contains("/") ? path : "./" + path
        let program = try start(path, executable, ["placeholder"], ["WAFT_ACTIVITY": activity])
        let end = ContinuousClock.now + placeholderTime
        let isOver = { ContinuousClock.now >= end || Task.isCancelled }
        let output: [UInt8]?
        do throws(SystemError) {
            output = try program.output(upTo: Placeholder.maximumBytes, isOver: isOver)
        } catch {
            throw .at(path, .unreadable, "cannot be read (\(error))")
        }
        guard let document = output else { throw .at(path, .unreadable, "gave no placeholder in time") }
        guard document.count <= Placeholder.maximumBytes else {
            throw .at(path, .unreadable, "gave a placeholder of more than \(Placeholder.maximumBytes) bytes")
        }
        switch program.wait(isOver: isOver) {
        case .code(0)?: break
        case .code(1)?: return nil
        case let exit?: throw .at(path, .unreadable, "gave no placeholder: \(exit)")
        case nil: throw .at(path, .unreadable, "does not end after its placeholder")
        }
        do throws(PlaceholderError) {
            let placeholder = try Placeholder.read(document)
            return ProgramSource(
                path, executable, try placeholder.offered(registry), placeholder, activity: activity)
        } catch {
            throw .at(path, .unreadable, error.clause)
        }
    }

    private init(
        _ origin: String, _ path: String, _ offered: OfferedItem, _ placeholder: Placeholder, activity: String
    ) {
        (self.origin, self.path, self.offered, self.activity) = (origin, path, offered, activity)
        subject = placeholder.subject.flatMap(Offer.subject)
        isForMany = placeholder.repeatable == true
        hasThumbnail = placeholder.thumbnail == true
        recipient = { nil }
    }

    private init(_ source: ProgramSource, for recipient: @escaping @Sendable () -> ItemRecipient?) {
        (origin, path, offered, activity) = (source.origin, source.path, source.offered, source.activity)
        (subject, isForMany, hasThumbnail) = (source.subject, source.isForMany, source.hasThumbnail)
        self.recipient = recipient
    }

    /// An interrupted item is not read again from its middle.
    package var isRepeatable: Bool { false }

    package func made(for recipient: @escaping @Sendable () -> ItemRecipient?) -> any ItemSource {
        ProgramSource(self, for: recipient)
    }

    package func open() throws(SourceError) -> any ItemReading {
        let isFirst = wasOpened.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
        guard isFirst || isForMany else {
            throw .at(origin, .unreadable, "makes its item once only; start the command again")
        }
        var variables = ["WAFT_ACTIVITY": activity]
        if let recipient = recipient() {
            variables["WAFT_PEER_ID"] = recipient.peer.text
            variables["WAFT_PEER_NAME"] = recipient.name.map { $0.replacing("\0", with: "\u{FFFD}") } ?? ""
            variables["WAFT_TRANSFER"] = recipient.transfer.text
        }
        let program = try Self.start(origin, path, ["item"], variables)
        if offered.kind == .tree {
            return try TarReading(
                program, origin: origin, size: offered.size ?? 0, entries: offered.entries ?? 1)
        }
        let reading = StreamReading(program, origin: origin, size: offered.size)
        return offered.kind == .url ? try link(reading) : reading
    }

    /// The file that stands for the URL that the program has printed.
    private func link(_ reading: StreamReading) throws(SourceError) -> any ItemReading {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: 2 * InternetShortcut.maximumBytes, alignment: 1)
        defer { buffer.deallocate() }
        var count = 0
        _ = reading.next()
        while true {
            let more = try reading.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
            count += more
            if more == 0 { break }
            guard count < buffer.count else { throw .at(origin, .unreadable, "made a URL that is too long") }
        }
        let text = String(decoding: buffer[..<count], as: UTF8.self)
        return try URLSource(String(text.prefix { !$0.isNewline })).open()
    }

    static func start(
        _ origin: String, _ path: String, _ arguments: [String], _ variables: [String: String],
        grace: Duration = .seconds(5)
    ) throws(SourceError) -> ChildProgram {
        do {
            return try ChildProgram(path, arguments, environment: variables, grace: grace)
        } catch {
            throw error.number == ENOENT
                ? .at(origin, .missing, "there is no such program, or the interpreter in its first line is missing")
                : .at(origin, .unreadable, "cannot be started (\(error)); it must be an executable file")
        }
    }
}
