import ArgumentParser
import Contacts
import Endpoints
import ItemSources
import Sending
import Sharing
import UniformTypes

/// `waft policy list`.
struct PolicyListCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rules, in the order in which they are tried.",
        discussion: "Example: waft policy list --json"
    )

    @OptionGroup var output: OutputOptions

    var isAboutRules: Bool { true }

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let rules = place.policy.rules
        let unknown = place.policy.unknownContacts(in: try place.snapshot())
        var report = VerbReport()
        for (index, rule) in rules.enumerated() {
            report.results.append(
                output.json
                    ? EventLine.rule(RuleFields(index + 1, rule)).text
                    : TerminalText.escaped(RuleText.line(index + 1, rule), limit: 2_000))
        }
        if rules.isEmpty, !output.json {
            report.notes.append("there are no rules: contacts have their own policy, and you are asked about strangers")
        }
        report.notes += unknown.map {
            "warning: rule \($0.rule) names \(TerminalText.escaped($0.name.text)), which is not a contact"
        }
        return report
    }
}
