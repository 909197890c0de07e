import ArgumentParser
import Contacts
import Endpoints
import ItemSources
import Lines
import Sending
import Sharing
import UniformTypes

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
        var protection: String?
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
            valueName: "visibility"))
    var visible: Visibility?

    @Argument(help: ArgumentHelp("Files and folders of the offer.", valueName: "file"), completion: .file())
    var items: [String]

    @OptionGroup var output: OutputOptions

    var isAboutRules: Bool { true }

    func report(on place: ContactsPlace) throws(CommandError) -> VerbReport {
        let (relation, sender) = try relation(try place.snapshot())
        guard items.count <= Limits.items else {
            throw CommandError(.usage, "an offer has at most \(Limits.items) items")
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
            do throws(SourceError) {
                offered.append(try ItemSources.make(path: path, registry: setting.registry).offered)
            } catch {
                throw CommandError(error)
            }
        }
        let offer = Offer(items: offered, senderName: "", dialect: sender?.dialect ?? DialectTable.known.standard)
        let decisions = place.policy.decide(
            offer, from: relation, setting.seen(by: offer.dialect),
            dayAmount: dayAmount(with: offer, from: sender, on: place))
        var report = VerbReport()
        for (index, decision) in decisions.enumerated() {
            report.results += lines(items[index], offered[index], decision)
        }
        return report
    }

    /// - Returns: the relation, and the sender whose bytes of the day count; nil for a stranger without a key.
    private func relation(
        _ snapshot: ContactSnapshot
    ) throws(CommandError) -> (PeerRelation, sender: AmountSender?) {
        if from == "stranger" { return (.stranger, nil) }
        if let dialect = DialectTable.known.unproven.first(where: { $0.name == from }) {
            return (.stranger, .dialect(dialect))
        }
        let peer = try KeyWord.peer(from, in: snapshot)
        return (snapshot.relation(of: peer), .peer(peer))
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
                        folder: destination.folder?.text, protection: destination.protection?.rawValue)
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
