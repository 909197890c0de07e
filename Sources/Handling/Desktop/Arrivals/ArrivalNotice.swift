import ContentCheck
import Sharing

/// The notification for arrivals.
///
/// The summary has only our own words, as that of an offer.
package enum ArrivalNotice {
    static let openKey = "open"
    static let chooseKey = "choose"
    static let showKey = "show"

    private static let noteLength = 160
    /// Items whose contents contradict their type, and that are named.
    private static let namedLiars = 2

    /// The notification for those that have no place on the desktop.
    static let surplus: @Sendable (Int) -> NotificationRequest = { count in
        NotificationRequest(
            summary: count == 1 ? "1 more transfer has arrived" : "\(count) more transfers have arrived",
            body: "To see them all: waft inbox", category: "transfer.complete")
    }

    /// - Parameters:
    ///   - sender: of the first item.
    ///   - canOpen: whether the first item may be opened on the desktop.
    ///   - canChoose: whether, besides, the user can choose the application.
    static func request(
        for group: ArrivalGroup, from sender: Introduction, canOpen: Bool, canChoose: Bool = false
    ) -> NotificationRequest {
        let lines = group.transfers == 1 ? transferLines(group, sender) : burstLines(group, sender)
        var actions: [NotificationRequest.Action] = []
        if canOpen, group.transfers == 1 { actions.append(.init(key: openKey, label: "Open")) }
        if canOpen, canChoose, group.transfers == 1 { actions.append(.init(key: chooseKey, label: "Open with…")) }
        actions.append(.init(key: showKey, label: "Show in folder"))
        return NotificationRequest(
            summary: summary(group), body: lines.joined(separator: "\n"),
            bodyWithoutActions: (lines + [command(group, canOpen: canOpen)]).joined(separator: "\n"),
            actions: actions, category: "transfer.complete")
    }

    /// The notification while the session is locked: without names and buttons. It stays until the session is unlocked.
    ///
    /// - Parameter isSealed: whether Waft is locked, and the session may not be.
    static func locked(_ group: ArrivalGroup, isSealed: Bool = false) -> NotificationRequest {
        let object = group.count == 1 ? "it" : "them"
        return NotificationRequest(
            summary: summary(group), body: isSealed ? "To see \(object): waft unlock" : "Unlock to see \(object).",
            expiry: .never, category: "transfer.complete")
    }

    /// The notification about items that wait for the unlock of Waft.
    package static func waiting(_ count: Int) -> NotificationRequest {
        NotificationRequest(
            summary: count == 1 ? "1 item waits: waft unlock" : "\(count) items wait: waft unlock",
            body: "What has arrived is sealed. Its handlers get it after the unlock.", expiry: .never,
            category: "transfer")
    }

    /// The notification after a button that did nothing.
    static func failure(_ reason: String) -> NotificationRequest {
        NotificationRequest(
            summary: "It could not be opened", body: NotificationText.line(reason, limit: noteLength),
            category: "transfer.error")
    }

    private static func summary(_ group: ArrivalGroup) -> String {
        group.count == 1 ? "1 item has arrived" : "\(group.count) items have arrived"
    }

    private static func transferLines(_ group: ArrivalGroup, _ sender: Introduction) -> [String] {
        guard let first = group.items.first else { return [] }
        let rest = group.count > 1 ? " and \(group.count - 1) more" : ""
        var lines = [
            "\(NotificationText.quoted(first.stored.name.text))\(rest) from \(NotificationText.person(sender))"
        ]
        if let subject = first.annotation[Offer.subjectKey].flatMap(Offer.subject) {
            lines.append("Subject: " + NotificationText.line(subject, limit: noteLength))
        }
        let liars = group.items.filter { $0.content?.outcome == .lying }
        for liar in liars.prefix(namedLiars) {
            let reason = NotificationText.line(liar.content?.explanation ?? "", limit: noteLength)
            lines.append("Careful with \(NotificationText.quoted(liar.stored.name.text)): \(reason)")
        }
        if liars.count > namedLiars { lines.append("Careful with \(liars.count - namedLiars) more") }
        return lines
    }

    private static func burstLines(_ group: ArrivalGroup, _ sender: Introduction) -> [String] {
        guard group.hasOnePeer else {
            return ["In \(group.transfers) transfers, from several senders"]
        }
        return ["In \(group.transfers) transfers, from \(NotificationText.person(sender))"]
    }

    private static func command(_ group: ArrivalGroup, canOpen: Bool) -> String {
        guard group.count == 1, let first = group.items.first else { return "To see them: waft inbox" }
        return canOpen ? "To open it: waft inbox open \(first.number)" : "To see it: waft inbox show \(first.number)"
    }
}
