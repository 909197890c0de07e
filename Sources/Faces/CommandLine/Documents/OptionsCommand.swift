import ArgumentParser
import Foundation
import Lines
import Operations

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
        let documents = try CommandContext.forgiving.documents
        let document = try await CommandError.catching { () throws(WaftError) in try documents.file(file) }
        try await DocumentMenu(documents: documents, output: output).run(document, check: options.check)
    }
}

extension DocumentAction: ExpressibleByArgument {
    /// For the menu.
    var title: String {
        switch self {
        case .preview: "show a part of it here"
        case .open: "open it on the desktop"
        case .openIn: "open it in a program that you choose"
        case .copy: "copy it to the clipboard"
        case .showInFolder: "show it in the file manager"
        case .take: "move it out of the Inbox"
        case .remove: "delete it"
        }
    }

    static var words: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// Lists the actions for a document that work here, and does one of them.
struct DocumentMenu {
    let documents: Documents
    let output: OutputOptions

    /// - Parameter check: only whether this works; nil to list all, and to ask on a terminal.
    /// - Throws: `CommandError` `ineligible` if it does not work, or nothing does; the errors of the chosen action.
    func run(_ document: Document, check: DocumentAction?) async throws {
        let options = try await CommandError.catching { () throws(WaftError) in
            try documents.options(for: document, check: check)
        }
        guard !output.json, check == nil, let first = options.first else {
            if output.json { for option in options { output.show(option, as: []) } }
            return
        }
        if let warning = first.warning { Console.shared.result(TerminalText.escaped(warning, limit: 1_000)) }
        Console.shared.result("\(document.name.head): \(TerminalText.escaped(first.facts.type))")
        let actions = options.map(\.facts.action)
        for (index, action) in actions.enumerated() {
            let padding = String(repeating: " ", count: 16 - action.rawValue.count)
            Console.shared.result("  \(index + 1)  \(action.rawValue)\(padding)\(action.title)")
        }
        guard LineReader.hasTerminal, let action = await choice(actions) else { return }
        try await perform(action, document)
    }

    /// - Returns: nil for an empty line, for another word, and at the end of the terminal.
    private func choice(_ actions: [DocumentAction]) async -> DocumentAction? {
        guard let line = await Console.shared.answer(to: "Which? [1-\(actions.count)] ") else { return nil }
        if let number = Int(line) { return actions.indices.contains(number - 1) ? actions[number - 1] : nil }
        return actions.first { $0.rawValue == line }
    }

    private func perform(_ action: DocumentAction, _ document: Document) async throws {
        let number = document.name.arrival.map { "\($0)" } ?? ""
        switch action {
        case .preview: try await documents.show(document, output)
        case .openIn: try await OpenInMenu(documents: documents, output: output).run(document, app: nil)
        case .open:
            output.show(
                try await CommandError.catching { () throws(WaftError) in try await documents.openOnDesktop(document) })
        case .copy:
            try await CommandError.catching { () throws(WaftError) in try await documents.copy(document) }
            Console.shared.result("\(document.name.head): copied")
        case .showInFolder:
            // The window of the file manager is the result.
            _ = try await CommandError.catching { () throws(WaftError) in try await documents.showInFolder(document) }
        case .take:
            guard let folder = await Console.shared.answer(to: "To which folder? ") else { return }
            let path = (folder as NSString).expandingTildeInPath
            let command = try InboxTakeCommand.parse(["--", number, path])
            try await command.run()
        case .remove:
            let command = try InboxRemoveCommand.parse([number])
            try await command.run()
        }
    }
}

extension Console {
    /// Asks on the terminal.
    /// - Returns: nil for an empty line, and at the end of the terminal.
    func answer(to question: String) async -> String? {
        prompt(question)
        defer { answered() }
        return await LineReader.terminalLine().flatMap { $0.isEmpty ? nil : $0 }
    }
}
