import ArgumentParser
import Endpoints
import Inbox
import Journal
import Lines
import Settings
import Sharing

/// `waft inbox verify`: compares the contents of the Inbox with the received items.
struct InboxVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare the items in the Inbox with the received ones.",
        discussion: """
            Example: waft inbox verify, or: waft inbox verify 12 report.pdf

            Every received item is read from the disk, except items that were taken or removed, or that left through a \
            handler. Exit code 17 if an item changed, is missing or cannot be read; 66 for a named item that is not expected \
            in the Inbox.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Numbers of items, as waft inbox shows them, or their names; all by default.",
            valueName: "item"), completion: .inboxItems)
    var arrivals: [String] = []

    @OptionGroup var output: OutputOptions

    /// Arrivals that are read from the journal at a time.
    private static let page = 500

    func run() async throws {
        let inbox = try CommandContext.forgiving.inbox
        var verifying = Verifying(inbox: inbox, json: output.json)
        if arrivals.isEmpty {
            let totals = try JournalReading.read { reader throws(JournalError) in try reader.totalsThere() }
            try verifying.begin(totals.count, bytes: totals.bytes)
            var last: ArrivalNumber?
            while true {
                let after = last
                let entries = try JournalReading.read { reader throws(JournalError) in
                    try reader.entriesThere(after: after, count: Self.page)
                }
                for entry in entries { verifying.verify(entry) }
                guard let end = entries.last else { break }
                last = end.arrival.number
            }
        } else {
            let entries = try arrivals.map { (wanted: $0, entry: try JournalReading.entry($0)) }
            let bytes = entries.reduce(0) { $0 &+ ($1.entry?.arrival.size ?? 0) }
            try verifying.begin(entries.count { $0.entry?.isThere == true }, bytes: bytes)
            for (wanted, entry) in entries {
                if let entry, entry.isThere { verifying.verify(entry) } else { verifying.absent(wanted, entry) }
            }
        }
        let exit = verifying.end()
        if exit != .done { throw exit.code }
    }
}
