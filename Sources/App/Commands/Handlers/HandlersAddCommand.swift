import ArgumentParser
import HandlerCatalog

/// `waft handlers add`.
struct HandlersAddCommand: HandlersVerb {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Install a handler: a program that Waft runs for received items.",
        discussion: """
            Example: waft handlers add --name Photos --type public.image --run ./import.sh --writable ~/Pictures

            The program is started as PROGRAM open-url URL, with the facts in WAFT_... variables and as JSON on standard \
            input. Exit code 0 means yes, 1 no (the next handler is asked), 75 try again later. waft type FILE shows the type \
            of a file.

            It may read the system's folders and the Inbox, and write to its own data folder ($WAFT_DATA) and a temporary \
            folder. Everything else must be allowed here: --readable for its settings and modules, --writable for the \
            folders that it writes to, --network for the network, --sockets for printing and other programs that it \
            reaches by Unix sockets, --environment for a variable that the receiver has, such as HTTPS_PROXY. waft handlers show NAME lists what a handler may do.
            """
    )

    @Option(name: .long, help: ArgumentHelp("Name of the handler.", valueName: "name"))
    var name: String

    @Option(
        name: .long, help: ArgumentHelp("A type that it opens, with all types that conform to it.", valueName: "uti"),
        completion: .types)
    var type: [String] = []

    @Option(name: .long, help: ArgumentHelp("A URL scheme that it opens.", valueName: "scheme"))
    var scheme: [String] = []

    @Option(name: .long, help: ArgumentHelp("The program to run.", valueName: "program"), completion: .file())
    var run: String

    @Option(
        name: .long, help: ArgumentHelp("A folder or file that it may read.", valueName: "dir"), completion: .file())
    var readable: [String] = []

    @Option(
        name: .long, help: ArgumentHelp("A folder that it may read and write.", valueName: "dir"),
        completion: .directory)
    var writable: [String] = []

    @Flag(name: .long, help: "Let it use the network.")
    var network = false

    @Flag(name: .long, help: "Let it connect to Unix sockets: to the printing system, the desktop, other programs.")
    var sockets = false

    @Option(
        name: .long, help: ArgumentHelp("A variable of the receiver's environment that it gets.", valueName: "variable")
    )
    var environment: [String] = []

    @Flag(name: .long, help: "Install a copy of the program instead of running it in place.")
    var copy = false

    @OptionGroup var output: OutputOptions

    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport {
        let recipe = HandlerRecipe(
            name: name, types: type, schemes: scheme, run: run, readable: readable, writable: writable,
            network: network, sockets: sockets, environment: environment, copying: copy)
        let addition = try CommandError.catching { () throws(CatalogError) in
            try place.catalog.add(recipe, workingDirectory: place.workingDirectory)
        }
        let text = HandlerText(place)
        let bundle = addition.bundle
        let warnings = addition.warnings.map { TerminalText.escaped($0, limit: 400) }
        if output.json {
            var fields = text.fields(bundle)
            fields.warnings += addition.warnings
            return HandlersReport(results: [EventLine.handler(fields).text], isChange: true)
        }
        var report = HandlersReport(
            results: [
                "installed \(HandlerText.escaped(bundle.name)) (\(bundle.identifier)) in \(HandlerText.path(bundle.path))",
                "  opens  \(text.opens(bundle))",
                "  runs   \(copy ? "a copy of " : "")\(HandlerText.path(self.run))\(copy ? "" : ", in place")",
            ], isChange: true)
        let rules = bundle.launch
        // The first path is the program, if it is stored elsewhere.
        report.results += rules.readablePaths.dropFirst(copy ? 0 : 1).map { "  reads  \(HandlerText.path($0))" }
        report.results += ([bundle.dataFolder].compactMap(\.self) + rules.writablePaths)
            .map { "  writes \(HandlerText.path($0))" }
        if rules.allowsNetwork { report.results.append("  uses   the network") }
        if rules.allowsSockets { report.results.append("  uses   Unix sockets, and by them your other programs") }
        if !rules.environment.isEmpty {
            report.results.append("  gets   \(rules.environment.joined(separator: ", ")) of the receiver's environment")
        }
        report.results += (warnings + text.troubles(bundle)).map { "  warning: \($0)" }
        report.notes.append("to see which handler gets a file: waft handlers test \(example(bundle))")
        return report
    }

    /// An example argument for `waft handlers test`.
    private func example(_ bundle: HandlerBundle) -> String {
        guard type.isEmpty, let scheme = bundle.urlTypes.first?.schemes.first else { return "FILE" }
        return "\(scheme):example"
    }
}
