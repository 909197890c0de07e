import ArgumentParser
import Operations

/// `waft inbox options`: lists what can be done with an item.
struct InboxOptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "options",
        abstract: "List what can be done with an item here, and on a terminal do one of it.",
        discussion: """
            Example: waft inbox options 12

            As waft options FILE, and: move it out of the Inbox, delete it.
            """
    )

    @Argument(
        help: ArgumentHelp("Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @OptionGroup var options: ActionOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let documents = try CommandContext.forgiving.documents
        let document = try await documents.item(ChosenItem(word: arrival))
        try await DocumentMenu(documents: documents, output: output).run(document, check: options.check)
    }
}
