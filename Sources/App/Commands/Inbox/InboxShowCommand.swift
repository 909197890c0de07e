import ArgumentParser
import Control
import Endpoints
import HandlerCatalog
import Journal
import Lines
import Operations
import Settings
import Sharing

/// `waft inbox show`: everything about one arrival.
struct InboxShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything about an item, with each call of a handler.",
        discussion: "Example: waft inbox show 12, or: waft inbox show report.pdf"
    )

    @Argument(
        help: ArgumentHelp(
            "Number of the item, as waft history shows it, or its name in the Inbox.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let entry = try JournalReading.entry(arrival) else {
            throw CommandError(.inputMissing, JournalReading.unknown(arrival), hint: "see: waft history")
        }
        let context = try CommandContext.forgiving
        let arrival = entry.arrival
        let icon = DocumentIcon(
            arrival.type, kind: arrival.item.kind.fileKind, in: HandlersPlace(context).catalog.load())
        if output.json {
            var fields = JournalFields(entry, context.people)
            (fields.icon, fields.genericIcon, fields.iconFile) = (icon.name, icon.genericName, icon.file)
            return EventLine.arrival(fields).print()
        }
        for line in JournalText.lines(entry, context.people, icon: icon) { Console.shared.result(line) }
    }
}
