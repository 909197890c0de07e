package import Sharing
import UniformTypes

/// The notification for an offer.
///
/// The summary has only our own words: some servers read markup there, and a locked screen may show it. All foreign
/// text is in the body, one item on each line, so that none can pass for another.
package enum OfferNotice {
    static let acceptKey = "accept"
    static let declineKey = "decline"

    /// Number of items that are listed; the rest is counted.
    private static let shownItems = 4
    private static let typeLength = 60
    private static let noteLength = 120

    /// The notification for offers that have no place on the desktop.
    package static let surplus: @Sendable (Int) -> NotificationRequest = { count in
        NotificationRequest(
            summary: count == 1 ? "1 more offer waits" : "\(count) more offers wait",
            body: "To see them all: waft offers",
            expiry: .never,
            category: "transfer"
        )
    }

    /// The notification that asks about an offer.
    ///
    /// - Parameters:
    ///   - isSealed: whether Waft is locked: the sender's texts about the items are not shown.
    ///   - rule: the senders for which this machine passes contents on.
    package static func request(
        for waiting: WaitingOffer, from sender: Introduction, isSealed: Bool = false, relay rule: RelayRule = .never
    ) -> NotificationRequest {
        let offer = waiting.offer
        let count = offer.items.count == 1 ? "1 item" : "\(offer.items.count) items"
        return NotificationRequest(
            summary: "Accept \(count), \(offer.sizeText)?",
            body: lines(waiting, sender, isSealed, rule).joined(separator: "\n"),
            actions: [
                NotificationRequest.Action(key: acceptKey, label: "Accept"),
                NotificationRequest.Action(key: declineKey, label: "Decline"),
            ],
            expiry: .never,
            category: "transfer"
        )
    }

    private static func lines(
        _ waiting: WaitingOffer, _ sender: Introduction, _ isSealed: Bool, _ rule: RelayRule
    ) -> [String] {
        let offer = waiting.offer
        var lines = ["From \(NotificationText.person(sender))" + (sender.isContact ? " (\(waiting.peer.short))" : "")]
        if let group = offer.group {
            let relays = offer.mayBeRelayed(by: rule, contact: sender.isContact)
            lines.append("To you " + OfferedGroup.words(others: group.members - 1, relays: relays))
        }
        let end = "\(ByteCount.text(waiting.freeRoom)) free; waft accept \(waiting.number)"
        if isSealed { return lines + ["Its names are shown after: waft unlock", end] }
        if let subject = offer.subject { lines.append("Subject: " + NotificationText.line(subject, limit: noteLength)) }
        for item in offer.items.prefix(shownItems) { lines.append(line(item)) }
        let rest = offer.items.count - min(offer.items.count, shownItems)
        if rest > 0 { lines.append("and \(rest) more") }
        if let note = offer.annotation["note"], !note.isEmpty {
            lines.append("Note: " + NotificationText.line(note, limit: noteLength))
        }
        return lines + [end]
    }

    private static func line(_ item: OfferedItem) -> String {
        var facts = [NotificationText.line(TypeRegistry.system.name(of: item.type), limit: typeLength)]
        facts.append(ByteCount.text(of: item.size, hint: item.sizeHint))
        if item.kind == .tree {
            if let entries = item.entries {
                facts.append(entries <= 1 ? "empty" : entries == 2 ? "1 thing in it" : "\(entries - 1) things in it")
            }
        }
        return "\(NotificationText.quoted(item.name.text)): \(facts.joined(separator: ", "))"
    }
}
