import ArgumentParser
import Operations

/// `waft inbox preview`: shows the beginning of an item.
struct InboxPreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show a part of an item in the terminal, by what its content is.",
        discussion: """
            Example: waft inbox preview 12

            As waft preview FILE. An item that is not what it claims to be is shown as what it is, with a warning. Exit code 13 \
            if there is nothing to show, 18 for a protected item while it is locked.
            """
    )

    @Argument(
        help: ArgumentHelp("Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String

    @OptionGroup var options: PreviewOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let documents = try CommandContext.forgiving.documents
        try options.check(output)
        let document = try await documents.item(
            ChosenItem(word: arrival), for: options.window ? .applications : .thisProcess)
        defer { if !options.window { documents.end(document) } }
        try await options.show(document, documents, output)
    }
}
