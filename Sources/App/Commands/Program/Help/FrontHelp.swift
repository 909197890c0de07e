import ArgumentParser

/// The help of `waft` itself: the verbs of the first week, then all others in groups.
enum FrontHelp {
    private static let first = ["receive", "send", "peers", "pair", "offers", "accept", "inbox", "status"]

    private static let groups = [
        (verbs: ["decline", "visible", "contacts", "policy"], about: "who may send, and what"),
        (verbs: ["share", "web", "desk"], about: "other ways to send and receive"),
        (verbs: ["transfers", "outbox", "history"], about: "what moves, what waits, what came before"),
        (verbs: ["handlers", "open"], about: "programs for what arrives, and for URLs"),
        (verbs: ["preview", "open-in", "options", "type"], about: "for any file of this machine"),
        (verbs: ["protection", "unlock", "lock"], about: "seal what arrives while nobody is there"),
        (verbs: ["config", "service", "desktop", "doctor"], about: "set up, and find faults"),
    ]

    /// At most 45 lines of 80 columns, with each verb.
    static var text: String {
        let configuration = WaftCommand.configuration
        var abstracts: [String: String] = [:]
        for verb in configuration.subcommands { abstracts[verb._commandName] = verb.configuration.abstract }
        let grouped = Set(first + groups.flatMap(\.verbs))
        let rest = abstracts.keys.filter { !grouped.contains($0) }.sorted().map { row($0, 36, "") }
        let week = first.map { row($0, 9, abstracts[$0] ?? "") }
        let others = groups.map { row($0.verbs.joined(separator: ", "), 36, $0.about) } + rest
        return """
            \(configuration.abstract)

              kitchen$ waft receive
              study$ waft send photo.jpg --to kitchen

            USAGE: waft <verb> ...

            FOR THE FIRST WEEK:
            \(week.joined(separator: "\n"))

            MORE:
            \(others.joined(separator: "\n"))

            OPTIONS:
            \(row("--json", 18, "One JSON document a line, from each verb that prints."))
            \(row("--version", 18, "Show the version."))
            \(row("-h, --help", 18, "Show help; behind a verb, the help of the verb."))

            waft help VERB shows the help of a verb, waft help exit-codes the exit codes.
            The manual has both: man waft.
            """
    }

    private static func row(_ head: String, _ width: Int, _ text: String) -> String {
        text.isEmpty ? "  \(head)" : "  \(head)\(String(repeating: " ", count: max(2, width - head.count)))\(text)"
    }
}
