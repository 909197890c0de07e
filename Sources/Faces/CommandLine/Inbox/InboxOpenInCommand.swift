import ArgumentParser
import Lines
import Operations

/// `waft inbox open-in`: opens an item in a handler or an application that the user chooses.
struct InboxOpenInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open-in",
        abstract: "Open an item in a handler or an application that you choose.",
        discussion: """
            Example: waft inbox open-in 12, or: waft inbox open-in 12 evince --copy ~/Documents

            As waft open-in FILE, and the handlers of the item come first in the list: the journal has the call as one that \
            you asked for. A handler that says no or later, or fails, is exit code 16. An application gets the file in the \
            Inbox, where it is read-only; --copy moves the item out before, as waft inbox take does. With options that \
            select items the only word is the program: waft inbox open-in --match '*.pdf' evince.
            """
    )

    @Argument(
        help: ArgumentHelp("Number of the item, as waft inbox shows it, or its name.", valueName: "item"),
        completion: .inboxItems)
    var arrival: String?

    @Argument(
        help: ArgumentHelp(
            "Number of the list, name as it is shown, desktop id of an application, or identifier of a handler.",
            valueName: "app"))
    var app: String?

    @OptionGroup var selection: SelectionOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Move the item into this folder first, and open it there.", valueName: "folder"), completion: .directory)
    var copy: String?

    @OptionGroup var opening: OpeningOptions

    @OptionGroup var annotations: AnnotationOptions

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard selection.isEmpty else {
            guard let program = arrival, app == nil else {
                throw ValidationError("With options that select items, name the program alone.")
            }
            // The lists of two items can be different.
            if Int(program) != nil { throw ValidationError("Name the program: its number differs from item to item.") }
            return
        }
        try selection.check(hasWords: arrival != nil)
    }

    func run() async throws {
        let context = try CommandContext.forgiving
        let items = try await selection.items([arrival].compactMap(\.self), output)
        let documents = context.documents
        var menu = OpenInMenu(
            documents: documents, output: output, anyway: opening.anyway, annotation: try annotations.read())
        if let copy { menu.move = { document in try await moved(document, to: copy) } }
        guard !selection.isEmpty else {
            return try await menu.run(documents.item(items[0]), app: app)
        }
        var exit = WaftExit.done
        for item in items {
            do {
                try await menu.run(documents.item(item), app: arrival)
            } catch let failure as CommandError {
                output.fail(failure, of: item.subject)
                if exit == .done { exit = failure.exit }
            }
        }
        if exit != .done { throw exit.code }
    }

    /// Moves the item out of the Inbox.
    /// - Returns: its new path.
    private func moved(_ document: Document, to folder: String) async throws -> String {
        guard let number = document.number else { return document.path }
        let taken = try await output.doing { waft throws(WaftError) in
            let item = try waft.inbox.entry(number).map(ChosenItem.item) ?? .unknown("\(number)")
            return (item, try await waft.inbox.take(item, to: folder))
        }
        switch taken.1 {
        case .success(let line):
            output.show(line)
            return line.toward
        case .failure(let failure):
            output.fail(CommandError(failure), of: taken.0.subject)
            throw failure.code.code
        }
    }
}
