import ArgumentParser

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
        let context = try CommandContext.forgiving
        let picture = try options.picture(json: output.json)
        if options.window {
            return try await PreviewWindow(context, json: output.json).show(DocumentSubject(item: arrival))
        }
        let subject = try DocumentSubject(item: arrival, for: .thisProcess)
        defer { subject.arrival.map(ClearDocument.end) }
        let previewing = Previewing(context, lines: options.lines, json: output.json)
        if let picture { return try await previewing.draw(subject, picture) }
        try await previewing.show(subject)
    }
}
