import ArgumentParser
import Contacts
import Endpoints
import ItemSources
import Sending
import Sharing
import UniformTypes

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
struct PolicyListCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the rules, in the order in which they are tried.",
        discussion: "Example: waft policy list --json"
    )

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
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

/// `waft policy test`.
struct PolicyTestCommand: ContactsVerb {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Show what would happen to an offer of these files and folders, and why. Nothing is sent.",
        discussion: "Example: waft policy test --from stranger --visible everyone photo.jpg"
    )

    struct Fields: Encodable {
        var path: String
        var type: String
        var size: UInt64?
        var outcome: String
        var explanation: String
        var handler: String?
        var folder: String?
    }

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Sender: a contact's name, a key id, stranger, or \(DialectTable.known.unproven.map(\.name).joined(separator: ", ")).",
            valueName: "peer"),
        completion: .contacts)
    var from: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Visibility to assume: off, contacts or everyone (default: the current one).",
            valueName: "off|contacts|everyone"))
    var visible: Visibility?

    @Argument(help: ArgumentHelp("Files and folders of the offer.", valueName: "file"), completion: .file())
    var items: [String]

    @OptionGroup var output: OutputOptions

    func report(on place: ContactsPlace) throws(CommandFailure) -> VerbReport {
        let (standing, sender) = try standing(try place.snapshot())
        guard items.count <= Limits.items else {
            throw CommandFailure(.usage, "an offer has at most \(Limits.items) items")
        }
        let setting = PolicySetting(
            at: place.now(),
            zone: place.zone,
            registry: place.registry(),
            visibility: visible ?? place.visibility.visibility,
            receiver: place.receiver
        )
        var offered: [OfferedItem] = []
        for path in items {
            do throws(SourceFault) {
                offered.append(try ItemSources.make(path: path, registry: setting.registry).offered)
            } catch {
                throw CommandFailure(error)
            }
        }
        let offer = Offer(items: offered, senderName: "", dialect: sender?.dialect ?? DialectTable.known.standard)
        let decisions = place.policy.decide(
            offer, from: standing, setting, dayAmount: dayAmount(with: offer, from: sender, on: place))
        var report = VerbReport()
        for (index, decision) in decisions.enumerated() {
            report.results += lines(items[index], offered[index], decision)
        }
        return report
    }

    /// - Returns: the standing, and the sender whose bytes of the day count; nil for a stranger without a key.
    private func standing(
        _ snapshot: ContactSnapshot
    ) throws(CommandFailure) -> (PeerStanding, sender: AmountSender?) {
        if from == "stranger" { return (.stranger, nil) }
        if let dialect = DialectTable.known.unproven.first(where: { $0.name == from }) {
            return (.stranger, .dialect(dialect))
        }
        let peer = try KeyWord.peer(from, in: snapshot)
        return (snapshot.standing(of: peer), .peer(peer))
    }

    private func dayAmount(with offer: Offer, from sender: AmountSender?, on place: ContactsPlace) -> UInt64? {
        guard let sender else { return offer.knownSize }
        return place.received(sender).map { received in
            let (sum, overflow) = received.addingReportingOverflow(offer.knownSize)
            return overflow ? .max : sum
        }
    }

    private func lines(_ path: String, _ item: OfferedItem, _ decision: PolicyDecision) -> [String] {
        let destination = decision.destination
        if output.json {
            return [
                EventLine.policyDecision(
                    Fields(
                        path: path, type: item.type.identifier, size: item.size, outcome: decision.outcome.rawValue,
                        explanation: decision.explanation, handler: destination.handler,
                        folder: destination.folder?.text)
                ).text
            ]
        }
        let size = item.size.map(ByteCount.text) ?? "unknown size"
        var lines = [
            "\(TerminalText.escaped(path, limit: 4_096))  \(TerminalText.escaped(item.type.identifier)), \(size)",
            "  \(TerminalText.escaped(decision.explanation, limit: 4_000))",
        ]
        if destination != .usual {
            lines.append(
                "  goes \(TerminalText.escaped(RuleText.words(destination).joined(separator: ", "), limit: 4_000))")
        }
        return lines
    }
}

/// A rule for people. Not escaped.
enum RuleText {
    /// Values of one condition that are named in a line.
    private static let namedValues = 8

    /// `1  accept: from Anna; type public.image; up to 5.0 GB; into Photos/Anna`.
    static func line(_ number: Int, _ rule: PolicyRule) -> String {
        let conditions = rule.conditions.map(words)
        let all = (conditions.isEmpty ? ["everything"] : conditions) + words(rule.destination)
        return "\(number)  \(rule.outcome.rawValue): \(all.joined(separator: "; "))"
    }

    static func words(_ destination: Destination) -> [String] {
        var words: [String] = []
        if let folder = destination.folder { words.append("into \(folder)") }
        if let handler = destination.handler { words.append("to \(handler)") }
        return words
    }

    static func words(_ condition: PolicyRule.Condition) -> String {
        switch condition {
        case .from(let parties): "from \(list(parties))"
        case .types(let types): "type \(list(types.map(\.identifier)))"
        case .names(let patterns): "name \(list(patterns))"
        case .sizeAtMost(let size): "up to \(ByteCount.text(size))"
        case .sizeAtLeast(let size): "at least \(ByteCount.text(size))"
        case .sizePerDay(let size): "up to \(ByteCount.text(size)) in 24 hours"
        case .time(let window): "at \(window)"
        }
    }

    private static func list(_ values: [some CustomStringConvertible]) -> String {
        values.prefix(namedValues).map(\.description).joined(separator: " or ")
            + (values.count > namedValues ? " or \(Glyph.ellipsis)" : "")
    }
}

/// A rule for programs.
struct RuleFields: Encodable {
    var rule: Int
    /// `from`, `type` and `name` of the configuration.
    var senders: [String]?
    var types: [String]?
    var names: [String]?
    /// Bytes of an item.
    var sizeAtMost: UInt64?
    var sizeAtLeast: UInt64?
    /// Bytes in 24 hours.
    var sizePerDay: UInt64?
    /// Such as `08:00-18:00`, or `22:00-06:00 on mon, fri`.
    var hours: String?
    /// `then` of the configuration: `accept`, `ask` or `decline`.
    var outcome: String
    var handler: String?
    var folder: String?
}

extension RuleFields {
    init(_ number: Int, _ rule: PolicyRule) {
        self.rule = number
        outcome = rule.outcome.rawValue
        handler = rule.destination.handler
        folder = rule.destination.folder?.text
        for condition in rule.conditions {
            switch condition {
            case .from(let parties): senders = parties.map(\.description)
            case .types(let types): self.types = types.map(\.identifier)
            case .names(let patterns): names = patterns.map(\.text)
            case .sizeAtMost(let size): sizeAtMost = size
            case .sizeAtLeast(let size): sizeAtLeast = size
            case .sizePerDay(let size): sizePerDay = size
            case .time(let window): hours = window.description
            }
        }
    }
}
