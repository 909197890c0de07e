import ArgumentParser
import ContentCheck
import Glibc
import Inbox
import Journal
import Lines
import Settings
import Sharing

/// `waft inbox cat`: write the contents of an item to standard output.
struct InboxCatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Write the contents of an item to standard output.",
        discussion: """
            Example: waft inbox cat 12 | less

            The item stays in the Inbox. A protected item is opened for it; exit code 18 while it is locked, 17 if it was \
            changed since it arrived: then a part may have been written before.
            """
    )

    @Argument(
        help: ArgumentHelp("Number or name of an item that is one file.", valueName: "item"), completion: .inboxItems)
    var item: String

    func run() async throws {
        let inbox = try CommandContext.forgiving.inbox
        guard let entry = try JournalReading.entry(item) else {
            throw CommandError(.inputMissing, JournalReading.unknown(item))
        }
        guard entry.isThere else {
            throw CommandError(
                .inputMissing,
                "\(FindingText.head(entry)): \(JournalText.departure(entry) ?? "it is no longer in the Inbox")")
        }
        guard entry.arrival.item.kind != .tree else {
            throw CommandError(
                .usage, "\(FindingText.head(entry)): it is a folder", hint: "take it out with: waft inbox take")
        }
        guard entry.arrival.content?.outcome != .lying || isatty(STDOUT_FILENO) == 0 else {
            throw CommandError(
                .usage, "\(FindingText.head(entry)): its content is not what it was sent as",
                hint: "to look at it: waft inbox preview")
        }
        do throws(LeavingError) {
            try InboxContents.write(entry.arrival, inbox: inbox, keys: ReceiverKeys.keys, to: STDOUT_FILENO)
        } catch {
            throw Leaving.failure(error)
        }
    }
}
