import ArgumentParser
import DBusClient
import Desktop
import Endpoints
import Foundation
import HandlerCatalog
import Handlers
import Lines
import Previews
import Sharing

/// `waft inbox open`: show an item on the desktop.
struct InboxOpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Show an item of the Inbox on the desktop, by xdg-open.",
        discussion: """
            Example: waft inbox open 12

            An item whose content does not match its type is not opened, and none that the desktop would run: a program, a \
            script, a launcher. --anyway opens them. To choose the program: waft inbox open-in 12. To give an item to its \
            handler: waft inbox retry 12.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @Flag(name: .long, help: "Show it in its folder, in the file manager, and open nothing.")
    var folder = false

    @OptionGroup var options: OpeningOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if folder, options.anyway { throw ValidationError("--folder opens nothing: leave out --anyway.") }
    }

    func run() async throws {
        if folder { return try await showInFolder() }
        let subject = try DocumentSubject(item: arrival)
        let previewing = Previewing(
            try CommandContext.forgiving, lines: PreviewBounds.lines, json: output.json)
        let opening = DocumentOpening(registry: previewing.registry)
        if !options.anyway { try opening.check(subject, try previewing.look(at: subject)) }
        guard DesktopSession.hasDisplay() else {
            throw CommandError(
                .ineligible, "\(subject.head): there is no desktop here: DISPLAY and WAYLAND_DISPLAY are not set")
        }
        guard let opener = SystemOpener(inheritsAll: true) else {
            throw CommandError(.unexpected, "xdg-open is missing; install xdg-utils")
        }
        let url = try OpenCommand.parts(
            URL(fileURLWithPath: subject.path, isDirectory: subject.isFolder).absoluteString)
        let outcome = await opener.open(url)
        let reason = TerminalText.escaped(outcome.reason, limit: 400)
        guard outcome.answer == .yes else { throw CommandError(.handlerSaidNo, "\(subject.head): \(reason)") }
        if output.json { return EventLine.opened(.onDesktop(subject.event, .done)).print() }
        Console.shared.result("\(subject.head): \(reason)")
    }

    private func showInFolder() async throws {
        let subject = try DocumentSubject(stored: ChosenItem(word: arrival))
        do throws(BusError) {
            try await FileManagerWindow.show([subject.path])
        } catch {
            throw CommandError(
                .ineligible,
                "\(subject.head): no file manager shows it: \(TerminalText.escaped("\(error)", limit: 400))",
                hint: "it is at \(TerminalText.escaped(subject.path, limit: 4_096))")
        }
        if output.json { return EventLine.opened(.onDesktop(subject.event, .done)).print() }
        Console.shared.result("\(subject.head): shown in its folder")
    }
}
