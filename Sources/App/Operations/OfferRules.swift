import Contacts
import Endpoints
import ItemSources
package import Lines
import Settings
import Sharing

extension Waft {
    /// The rules for offers.
    package var policy: OfferRules { OfferRules(waft: self) }
}

/// The rules of the settings for offers, in the order in which they are tried.
package struct OfferRules: Sendable {
    fileprivate let waft: Waft

    /// - Returns: the rules, and those that name no contact: each with the first name that is unknown.
    /// - Throws: `WaftError` if the contacts cannot be read.
    package func list() throws(WaftError) -> (rules: [RuleLine], unknown: [(rule: Int, name: String)]) {
        let policy = waft.settings.policy
        let unknown = policy.unknownContacts(in: try snapshot())
        return (
            policy.rules.enumerated().map { RuleLine($0 + 1, $1) }, unknown.map { ($0.rule, $0.name.text) }
        )
    }

    /// The senders of `test` that prove no key: protocols.
    package static let unprovenSenders = DialectTable.known.unproven.map(\.name)

    /// What would happen to each item of an offer, and why. Nothing is sent.
    /// - Parameters:
    ///   - sender: a contact's name, a whole key id, `stranger`, or one of `unprovenSenders`.
    ///   - visibility: nil for the one of now.
    /// - Throws: `WaftError`: `usage` for no sender, `inputMissing` for a file that cannot be read.
    package func test(
        _ paths: [String], from sender: String, visibility: VisibilityControl.Choice? = nil
    ) throws(WaftError) -> [PolicyDecisionLine] {
        let (relation, amountSender) = try relation(of: sender, try snapshot())
        guard paths.count <= Limits.items else {
            throw WaftError(.usage, "an offer has at most \(Limits.items) items")
        }
        let settings = waft.settings
        let setting = PolicySetting(
            at: waft.now(), registry: waft.home.typeRegistry(),
            visibility: visibility ?? waft.visibilityFile.visibility,
            receiver: ReceiverRule(rawValue: settings.accept.rawValue) ?? .ask)
        let offered = try paths.map { path throws(WaftError) in
            do throws(SourceError) {
                return try ItemSources.make(path: path, registry: setting.registry).offered
            } catch {
                throw WaftError(WaftExit(error), error.message, others: error.others)
            }
        }
        let offer = Offer(
            items: offered, senderName: "", dialect: amountSender?.dialect ?? DialectTable.known.standard)
        let decisions = settings.policy.decide(
            offer, from: relation, setting.seen(by: offer.dialect), dayAmount: dayAmount(with: offer, amountSender))
        return decisions.enumerated().map { PolicyDecisionLine(paths[$0], offered[$0], $1) }
    }

    /// - Returns: the relation, and the sender whose bytes of the day count; nil for a stranger without a key.
    private func relation(
        of sender: String, _ snapshot: ContactSnapshot
    ) throws(WaftError) -> (PeerRelation, sender: AmountSender?) {
        if sender == "stranger" { return (.stranger, nil) }
        if let dialect = DialectTable.known.unproven.first(where: { $0.name == sender }) {
            return (.stranger, .dialect(dialect))
        }
        let peer = try PeerID.known(sender, in: snapshot)
        return (snapshot.relation(of: peer), .peer(peer))
    }

    private func dayAmount(with offer: Offer, _ sender: AmountSender?) -> UInt64? {
        guard let sender else { return offer.knownSize }
        return (try? waft.amounts.received(from: sender, on: Day(until: waft.now()))).map { received in
            let (sum, overflow) = received.addingReportingOverflow(offer.knownSize)
            return overflow ? .max : sum
        }
    }

    private func snapshot() throws(WaftError) -> ContactSnapshot {
        try AddressBook.doing { () throws(ContactError) in
            try waft.home.contactBook(restored: waft.warn).snapshot()
        }
    }
}
