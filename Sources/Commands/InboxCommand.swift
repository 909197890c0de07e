import ArgumentParser
import Contacts
import Foundation
import Inbox
import Journal
import Peer
import Sharing
import UniformTypes

/// `waft inbox`: what has arrived.
struct InboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Look into the Inbox, and take things out of it.",
        subcommands: [
            InboxListCommand.self, InboxShowCommand.self, InboxOpenCommand.self, InboxTakeCommand.self,
            InboxRemoveCommand.self, InboxVerifyCommand.self, InboxRetryCommand.self, InboxAdoptCommand.self,
        ],
        defaultSubcommand: InboxListCommand.self
    )
}

struct InboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what lies in the Inbox.",
        discussion: "Example: waft inbox list --json"
    )

    @OptionGroup var output: OutputOptions

    private struct Line: Encodable {
        var v = 1
        var name: String
        var path: String
        var kind: String
        var size: UInt64?
        var modified: String
        var mark: String?
        /// Of an item that the journal knows: its number, its type, and the sender.
        var arrival: Int64?
        var type: String?
        var from: EventLine.Peer?
    }

    func run() async throws {
        let surroundings = try Surroundings()
        let inbox = try surroundings.inbox
        let entries: [InboxListing.Entry]
        do throws(InboxError) {
            entries = try InboxListing.entries(at: inbox)
        } catch {
            throw CommandFailure(.unexpected, TerminalText.escaped(error.message))
        }
        if entries.isEmpty, !output.json {
            return Console.shared.note("nothing in \(TerminalText.escaped(surroundings.home.inbox))")
        }
        let arrivals = (try? Self.arrivals()) ?? [:]
        let people = surroundings.people
        let format = Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
            .dateTimeSeparator(.space).time(includingFractionalSeconds: false)
        for entry in entries {
            let modified = Date(timeIntervalSince1970: Double(entry.modified.seconds))
            if output.json {
                var line = Line(
                    name: entry.name, path: entry.path, kind: entry.kind.rawValue, size: entry.size,
                    modified: ISOTime.text(WallTime(milliseconds: entry.modified.seconds &* 1_000)), mark: entry.mark)
                if let arrival = arrivals[entry.name] {
                    (line.arrival, line.type) = (arrival.number.value, arrival.type.identifier)
                    line.from = people.document(arrival.peer, callingItself: arrival.senderName)
                }
                Console.shared.result(JSONText.line(line))
            } else {
                let size = entry.kind == .file ? ByteCount.text(entry.size ?? 0) : entry.kind.rawValue
                let padding = String(repeating: " ", count: max(0, 10 - size.count))
                let arrival = arrivals[entry.name]
                let number = arrival.map { String($0.number.value) } ?? "-"
                let sender = arrival.map {
                    " from " + TerminalText.escaped(people.introduction(of: $0.peer, callingItself: $0.senderName).name)
                }
                Console.shared.result(
                    "\(number)\(String(repeating: " ", count: max(0, 5 - number.count)))\(padding)\(size)  "
                        + "\(modified.formatted(format))  \(TerminalText.escaped(entry.name))\(sender ?? "")")
                if let mark = entry.mark { Console.shared.result("            \(TerminalText.escaped(mark))") }
            }
        }
    }

    /// Arrivals that are there, read at a time.
    private static let page = 1_024

    /// The journal's arrivals in the Inbox's own folder, by name.
    private static func arrivals() throws(CommandFailure) -> [String: Arrival] {
        try JournalReading.read { reader throws(JournalFault) in
            var arrivals: [String: Arrival] = [:]
            var last: ArrivalNumber?
            while true {
                let entries = try reader.entriesThere(after: last, count: page)
                // Of a folder that was given to accept, its own line is shown.
                for entry in entries where entry.arrival.destination.folder == nil {
                    arrivals[entry.arrival.stored.name.text] = entry.arrival
                }
                guard entries.count == page, let next = entries.last?.arrival.number else { return arrivals }
                last = next
            }
        }
    }
}
