import ArgumentParser
import Endpoints
import Settings

/// `waft open-in`: opens a file in an application or a handler that the user chooses.
struct OpenInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open-in",
        abstract: "Open a file in an application or a handler that you choose.",
        discussion: """
            Example: waft open-in report.pdf, or: waft open-in report.pdf evince

            Without an application the list, which is a menu on a terminal; without a terminal the exit code is 64 then, and \
            with --json 0. The application gets the file where it is. One for the terminal starts in this terminal, all \
            others need a desktop. A handler of its type may read the file where it is, and its sandbox lets it change nothing there; \
            it is called once, and no answer is kept: exit code 16 for any but yes. For an item of the Inbox: waft inbox open-in 12. \
            A file that is not what its \
            name says, and one that the desktop would run, needs --anyway. Exit code 1 with the reason if the application \
            does not start, 13 if nothing opens the file.
            """
    )

    @Argument(help: ArgumentHelp("A file or a folder.", valueName: "file"), completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp(
            "Number of the list, name as it is shown, desktop id of the application, or identifier of the handler.",
            valueName: "app"))
    var app: String?

    @OptionGroup var opening: OpeningOptions

    @OptionGroup var annotations: AnnotationOptions

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let context = try CommandContext.forgiving
        let openIn = OpenIn(
            context, json: output.json, anyway: opening.anyway, annotation: try annotations.read())
        try await openIn.run(DocumentSubject(path: file, context.home.typeRegistry()), app: app)
    }
}
