import ArgumentParser
import Operations

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
        let documents = try CommandContext.forgiving.documents
        let document = try await documents.item(ChosenItem(word: arrival), for: folder ? nil : .applications)
        let line = try await CommandError.catching { () throws(WaftError) in
            folder
                ? try await documents.showInFolder(document)
                : try await documents.openOnDesktop(document, anyway: options.anyway)
        }
        output.show(line)
    }
}
