import ArgumentParser
import Foundation
import Inbox
import Peer
import Sharing

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
        var modified: Date
        var mark: String?
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
        let format = Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
            .dateTimeSeparator(.space).time(includingFractionalSeconds: false)
        for entry in entries {
            let modified = Date(timeIntervalSince1970: Double(entry.modified.seconds))
            if output.json {
                let line = Line(
                    name: entry.name, path: entry.path, kind: entry.kind.rawValue, size: entry.size, modified: modified,
                    mark: entry.mark)
                Console.shared.result(Self.json(line))
            } else {
                let size = entry.kind == .file ? ByteCount.text(entry.size ?? 0) : entry.kind.rawValue
                let padding = String(repeating: " ", count: max(0, 10 - size.count))
                Console.shared.result(
                    "\(padding)\(size)  \(modified.formatted(format))  \(TerminalText.escaped(entry.name))")
                if let mark = entry.mark { Console.shared.result("            \(TerminalText.escaped(mark))") }
            }
        }
    }

    private static func json(_ line: Line) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return (try? encoder.encode(line)).map { TerminalText.escaped(json: String(decoding: $0, as: UTF8.self)) }
            ?? "{}"
    }
}
