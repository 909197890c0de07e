import ArgumentParser
import ContentCheck
import Control
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Settings
import Sharing

/// `waft inbox open`: show an item on the desktop.
struct InboxOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Show an item of the Inbox on the desktop, by xdg-open.",
        discussion: """
            Example: waft inbox open 12

            An item whose content does not match its type is not opened. To give an item to its handler: waft inbox retry 12.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let entry = try JournalReading.entry(arrival) else {
            throw CommandError(.inputMissing, JournalReading.unknown(arrival), hint: "see: waft history")
        }
        if let left = JournalText.departure(entry) {
            throw CommandError(.inputMissing, "\(FindingText.head(entry)): \(left)")
        }
        if let content = entry.arrival.content, content.outcome == .lying {
            throw CommandError(
                .ineligible, "\(FindingText.head(entry)): \(TerminalText.escaped(content.explanation))",
                hint: "to open it with another program, move it out: "
                    + "waft inbox take \(entry.arrival.number) DIR")
        }
        let path = entry.arrival.stored.path
        guard FileManager.default.fileExists(atPath: path) else {
            throw CommandError(.inputMissing, "\(FindingText.head(entry)): it is no longer in the Inbox")
        }
        guard let opener = SystemOpener() else {
            throw CommandError(.unexpected, "xdg-open is missing; install xdg-utils")
        }
        let url = try OpenCommand.parts(URL(fileURLWithPath: path).absoluteString)
        let outcome = await opener.open(url)
        let reason = TerminalText.escaped(outcome.reason, limit: 400)
        guard outcome.answer == .yes else {
            throw CommandError(.handlerSaidNo, "\(FindingText.head(entry)): \(reason)")
        }
        if output.json { return EventLine.opened(.onDesktop(EventLine.ArrivalName(entry.arrival), .done)).print() }
        Console.shared.result("\(FindingText.head(entry)): \(reason)")
    }
}
