import ArgumentParser
import Lines
import Operations
import Sharing

/// Options of the verbs that hand a document to the desktop.
struct OpeningOptions: ParsableArguments {
    @Flag(
        name: .long,
        help: "Hand it on even if it is not what it claims to be, or if the desktop would run it.")
    var anyway = false
}

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
        let documents = try CommandContext.forgiving.documents
        let menu = OpenInMenu(
            documents: documents, output: output, anyway: opening.anyway, annotation: try annotations.read())
        let document = try await CommandError.catching { () throws(WaftError) in try documents.file(file) }
        try await menu.run(document, app: app)
    }
}

/// Hands a document to a program that the user chooses.
struct OpenInMenu {
    let documents: Documents
    let output: OutputOptions
    /// Whether also a document is handed on that lies about its content, or that the desktop would run.
    var anyway = false
    /// Of the user, for the program.
    var annotation = Annotation()
    /// Moves an item out of the Inbox before an application gets it, and returns its path; nil to leave it there.
    var move: ((Document) async throws -> String)?

    /// - Parameter app: a number of the list, a name or an identifier; nil to ask for it on a terminal.
    /// - Throws: `CommandError`: `ineligible` if nothing opens it or it may not be opened, `usage` for an unknown
    ///   program, or for none without a terminal.
    func run(_ document: Document, app: String?) async throws {
        let list = try await CommandError.catching { () throws(WaftError) in
            try documents.programs(for: document, anyway: anyway)
        }
        if let app { return try await hand(document, to: app, of: list) }
        guard !list.isEmpty else { throw CommandError(list.nothing) }
        let lines = list.lines
        if output.json {
            for line in lines { output.show(line, as: []) }
            return
        }
        for text in OpenInLine.list(lines) { Console.shared.result(text) }
        guard LineReader.hasTerminal else {
            throw CommandError(.usage, "\(document.name.head): name one of these programs, or its number")
        }
        guard let answer = await Console.shared.answer(to: "Open in? [1-\(lines.count)] ") else { return }
        try await hand(document, to: answer, of: list)
    }

    private func hand(_ document: Document, to app: String, of list: OpenInList) async throws {
        let target = try await CommandError.catching { () throws(WaftError) in try list.target(app) }
        if let move {
            guard !target.isHandler else {
                throw CommandError(
                    .usage, "\(document.name.head): --copy is for applications; a handler reads the Inbox")
            }
            var moved = document
            moved.path = try await move(document)
            return try await start(moved, in: target)
        }
        guard target.isHandler else { return try await start(document, in: target) }
        let cancellation = Cancellation()
        do {
            let line = try await Interruption.watching(cancellation, goodbye: .zero) { [documents, annotation] in
                try await documents.open(document, in: target, annotation)
            }
            output.show(line)
        } catch let error as WaftError {
            if cancellation.isRequested || error.code == .interrupted { throw WaftExit.interrupted.code }
            throw CommandError(error)
        }
    }

    private func start(_ document: Document, in target: OpenInTarget) async throws(CommandError) {
        output.show(
            try await CommandError.catching { () throws(WaftError) in
                try await documents.open(document, in: target, annotation)
            })
    }
}
