import ArgumentParser
import Foundation
import Sending
import Sharing

/// One event of `--json`: one JSON document a line. Fields that do not apply are left out; new ones can come.
/// `Commands.docc/events.schema.json` describes every line.
struct EventLine: Encodable {
    struct Peer: Encodable, Equatable {
        /// The whole id of its key; absent for a peer that proved none.
        var id: String?
        /// The name that the peer gives itself.
        var name: String?
        /// The user's own name for a contact.
        var contact: String?
    }

    struct Item: Encodable {
        var item: Int
        var name: String
        var kind: String
        var type: String
        var size: UInt64?
        /// Bytes that the sender expects if `size` is not known.
        var sizeHint: UInt64?
        var entries: UInt64?
    }

    /// The answer to one item, and why.
    struct Answer: Encodable {
        var item: Int
        var answer: String
        var reason: String?

        init(item: Int, answer: String, reason: String?) {
            (self.item, self.answer) = (item, answer)
            self.reason = reason.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// An offered item that seems to be in the Inbox already.
    struct Present: Encodable {
        /// As it is offered.
        var name: String
        /// The number of the arrival, and its name in the Inbox.
        var arrival: Int64
        var stored: String
    }

    var v = 1
    var event: EventName
    /// Of a sender: the value of `--to`.
    var to: String?
    var peer: Peer?
    var from: Peer?
    /// The dialect of the transfer: `waft` and others.
    var via: String?
    var transfer: String?
    /// The first `shownItems` of the items; `count` says how many there are.
    var items: [Item]?
    var count: Int?
    /// The answers to the first `shownItems`.
    var answers: [Answer]?
    var acceptedCount: Int?
    /// The number of the arrival, for `waft inbox show`.
    var arrival: Int64?
    /// Place of the item in its offer.
    var item: Int?
    /// The name that was offered.
    var name: String?
    /// The name it has in the Inbox.
    var stored: String?
    var path: String?
    var kind: String?
    var type: String?
    var size: UInt64?
    /// Of a folder: files, folders and links, itself included.
    var entries: UInt64?
    var digest: String?
    /// Bytes moved so far, and in all.
    var bytes: UInt64?
    var total: UInt64?
    /// Of a sender: the item had been stored before, and nothing was stored now.
    var alreadyThere: Bool?
    /// Of a sender, in the last line of a report: bytes of contents that were sent, in all attempts.
    var moved: UInt64?
    /// The result of comparing content and type: `consistent`, `unverified`, `mislabelled`, `lying`.
    var content: String?
    /// A handler's answer, and its exit code.
    var handlerAnswer: String?
    var exitCode: Int?
    /// The destination of an item that left the Inbox: its new path, or a handler's identifier.
    var toward: String?
    var reason: String?
    /// Advice after a failure.
    var hint: String?
    /// Further reasons of a failure, in the form of `reason`.
    var others: [String]?
    /// Exit code of the command.
    var exit: Int32?
    var id: String?
    var port: Int?
    var inbox: String?
    var note: String?
    /// Number of a job of the outbox, and whether a receiver is running that sends it.
    var job: Int?
    var daemon: Bool?
    /// Number of a waiting offer, for the answer.
    var offer: Int?
    /// Bytes free on the disk of the destination.
    var free: UInt64?
    /// Of an offer: a warning if a stranger gives itself the name of a contact.
    var warning: String?
    /// Of an offer that was accepted: items that seem to be in the Inbox already, and the folder for the others.
    var present: [Present]?
    var folder: String?
    /// Of an offer that was declined: whether its sender is blocked now.
    var blocked: Bool?
    /// A word of the command line that names no item.
    var wanted: String?
    var jobCount: Int?

    /// Items that an event lists; offers can have tens of thousands.
    static let shownItems = 100

    init(_ event: EventName) {
        self.event = event
    }

    /// A failure, with the exit code of the command.
    init(_ failure: CommandFailure) {
        self.init(.failed)
        (reason, hint, exit) = (failure.message, failure.hint, failure.exit.rawValue)
        others = failure.others.isEmpty ? nil : failure.others
    }

    /// A peer of which only the key is known; nil if it proved none.
    static func peer(_ id: PeerID) -> Peer? { id.provenText.map { Peer(id: $0) } }

    /// The last event of a command that ends.
    static func done(_ exit: WaftExit) -> EventLine {
        var line = EventLine(.done)
        line.exit = exit.rawValue
        return line
    }

    var text: String { JSONText.line(self) }

    func print() {
        Console.shared.result(text)
    }
}

/// The events of a command that was called with `--json` and has failed.
struct FailureEvents {
    /// Whether the command's last event says that it is done, and how.
    private let endsWithDone: Bool
    /// Standard error of a daemon is its log, which has failures too.
    private let isDaemon: Bool

    /// - Parameter words: of the command line.
    /// - Returns: nil where people read.
    init?(_ words: [String], isDaemon: Bool) {
        self.isDaemon = isDaemon
        guard words.prefix(while: { $0 != "--" }).contains("--json") else { return nil }
        // A receiver prints `done` for each transfer; other verbs print documents.
        endsWithDone = words.first == SendCommand.configuration.commandName
    }

    func print(_ failure: CommandFailure) {
        EventLine(failure).print()
        if endsWithDone { EventLine.done(failure.exit).print() }
        if isDaemon { Console.shared.note("waft: \(failure)") }
    }
}

/// JSON for machines, everywhere in the same form.
enum JSONText {
    static func line(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Only infinities and the like cannot be encoded, and there are none.
        guard let data = try? encoder.encode(value) else { return "{}" }
        return TerminalText.escaped(json: String(decoding: data, as: UTF8.self))
    }
}
