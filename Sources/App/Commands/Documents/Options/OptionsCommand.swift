import ArgumentParser

/// Options of the verbs that list what can be done.
struct ActionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Do and ask nothing: exit code 0 if this can be done, 13 if not. One of \(DocumentAction.words).",
            valueName: "action"))
    var check: DocumentAction?
}

/// `waft options`: lists what can be done with a file.
struct OptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "options",
        abstract: "List what can be done with a file here, and on a terminal do one of it.",
        discussion: """
            Example: waft options report.pdf, or: waft options report.pdf --check preview

            Listed are only those that work here: a preview, opening it on the desktop or in a program that you choose, the \
            clipboard (wl-copy, xclip, or the terminal's), the file manager. Exit code 13 if there are none.
            """
    )

    @Argument(help: ArgumentHelp("A file or a folder.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup var options: ActionOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let menu = try DocumentMenu(CommandContext.forgiving, json: output.json)
        try await menu.run(DocumentSubject(path: file, menu.previewing.registry), check: options.check)
    }
}
