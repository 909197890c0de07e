package import Sharing

/// The offers that wait for consent: `ConsentQueue`.
package protocol OfferWatching: Sendable {
    /// The events from now on, starting with the offers that already wait.
    func events() -> AsyncStream<ConsentQueue.Event>
    /// Answers an offer.
    /// - Returns: whether the offer was still waiting.
    @discardableResult
    func answer(_ number: Int, accept: Bool) -> Bool
}

extension ConsentQueue: OfferWatching {}

/// Shows one notification for each waiting offer, with Accept and Decline; it closes when the offer ends.
///
/// Dismissing a notification does not answer the offer: it waits and can be answered elsewhere.
package struct OfferNotifications: Sendable {
    private let notifier: DesktopNotifier
    private let offers: any OfferWatching
    private let pictures: PictureFolder?
    private let isSealed: @Sendable () -> Bool
    private let relay: @Sendable () -> RelayRule
    private let sender: @Sendable (PeerID, String) -> Introduction

    /// - Parameters:
    ///   - notifier: must be made with `OfferNotice.surplus`.
    ///   - pictures: where the preview of an offer lies for the server; nil shows none.
    ///   - isSealed: whether Waft is locked: an offer that comes then shows neither names nor a picture.
    ///   - relay: the senders for which this machine passes contents on now.
    ///   - sender: introduces a peer with the name that it gives itself; must return soon.
    package init(
        notifier: DesktopNotifier,
        offers: any OfferWatching,
        pictures: PictureFolder? = nil,
        isSealed: @escaping @Sendable () -> Bool = { false },
        relay: @escaping @Sendable () -> RelayRule = { .never },
        sender: @escaping @Sendable (PeerID, String) -> Introduction
    ) {
        self.notifier = notifier
        self.offers = offers
        self.pictures = pictures
        self.isSealed = isSealed
        self.relay = relay
        self.sender = sender
    }

    /// Shows offers until the task is cancelled; then closes their notifications.
    package func run() async {
        await withDiscardingTaskGroup { group in
            var tickets: [Int: NotificationTicket] = [:]
            for await event in offers.events() {
                switch event {
                case .waiting(let offer):
                    let isSealed = isSealed()
                    var request = OfferNotice.request(
                        for: offer, from: sender(offer.peer, offer.offer.senderName), isSealed: isSealed,
                        relay: relay())
                    let preview = isSealed ? nil : offer.offer.items.lazy.compactMap(\.preview).first
                    let picture = preview.flatMap { pictures?.write($0) }
                    request.picture = picture?.path
                    let ticket = notifier.show(request)
                    tickets[offer.number] = ticket
                    group.addTask {
                        // Until the notification is gone.
                        defer { withExtendedLifetime(picture) {} }
                        await answer(offer.number, as: ticket)
                    }
                case .settled(let number, _):
                    tickets.removeValue(forKey: number)?.close()
                }
            }
            for ticket in tickets.values { ticket.close() }
            group.cancelAll()
        }
    }

    private func answer(_ number: Int, as ticket: NotificationTicket) async {
        for await event in ticket.events {
            switch event {
            case .action(OfferNotice.acceptKey): offers.answer(number, accept: true)
            case .action(OfferNotice.declineKey): offers.answer(number, accept: false)
            case .action, .closed: break
            }
        }
    }
}
