import ArgumentParser

/// `waft inbox open-in`: opens an item in a handler or an application that the user chooses.
struct InboxOpenInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open-in",
        abstract: "Open an item in a handler or an application that you choose.",
        discussion: """
            Example: waft inbox open-in 12, or: waft inbox open-in 12 evince --copy ~/Documents

            As waft open-in FILE, and the handlers of the item come first in the list: the journal has the call as one that \
            you asked for. A handler that says no or later, or fails, is exit code 16. An application gets the file in the \
            Inbox, where it is read-only; --copy moves the item out before, as waft inbox take does.
            """
    )

    @Argument(
        help: ArgumentHelp("Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @Argument(
        help: ArgumentHelp(
            "Number of the list, name as it is shown, desktop id of an application, or identifier of a handler.",
            valueName: "app"))
    var app: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Move the item into this folder first, and open it there.", valueName: "folder"), completion: .directory)
    var copy: String?

    @OptionGroup var opening: OpeningOptions

    @OptionGroup var annotations: AnnotationOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let context = try CommandContext(isForgiving: true)
        let openIn = OpenIn(
            context, json: output.json, anyway: opening.anyway, annotation: try annotations.read(), folder: copy)
        try await openIn.run(DocumentSubject(item: arrival), app: app)
    }
}
