import ArgumentParser
import Operations

/// `waft policy`: the rules of the configuration.
struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Show and test the rules for offers.",
        discussion: """
            Example: waft policy test --from kitchen photo.jpg

            Rules are listed in the configuration under policy:, and are tried in order. Contacts have their own policy: waft \
            contacts show NAME.
            """,
        subcommands: [PolicyListCommand.self, PolicyTestCommand.self],
        defaultSubcommand: PolicyListCommand.self
    )
}

/// `waft policy list`.
struct PolicyListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rules, in the order in which they are tried.",
        discussion: "Example: waft policy list --json"
    )

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let (rules, unknown) = try await output.doing(in: CommandContext()) { waft throws(WaftError) in
            try waft.policy.list()
        }
        for rule in rules { output.show(rule) }
        if rules.isEmpty {
            output.note("there are no rules: contacts have their own policy, and you are asked about strangers")
        }
        for (rule, name) in unknown {
            Console.shared.note("warning: rule \(rule) names \(TerminalText.escaped(name)), which is not a contact")
        }
    }
}

/// `waft policy test`.
struct PolicyTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Show what would happen to an offer of these files and folders, and why. Nothing is sent.",
        discussion: "Example: waft policy test --from stranger --visible everyone photo.jpg"
    )

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Sender: a contact's name, a key id, stranger, or \(OfferRules.unprovenSenders.joined(separator: ", ")).",
            valueName: "peer"),
        completion: .contacts)
    var from: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Visibility to assume: off, contacts or everyone (default: the current one).",
            valueName: "visibility"))
    var visible: VisibilityControl.Choice?

    @Argument(help: ArgumentHelp("Files and folders of the offer.", valueName: "file"), completion: .file())
    var items: [String]

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let decisions = try await output.doing(in: CommandContext()) { waft throws(WaftError) in
            try waft.policy.test(items, from: from, visibility: visible)
        }
        for decision in decisions { output.show(decision) }
    }
}
