package import Sharing

/// Who a peer is to the user.
package enum PeerStanding: Hashable, Sendable {
    /// A contact, by the name that the user gave it.
    case contact(name: String)
    /// Anybody else, whatever it calls itself.
    case stranger
}

/// The offers that wait for consent, as whoever answers them sees them: `ConsentQueue`.
package protocol OfferWatching: Sendable {
    /// What happens from now on, beginning with the offers that wait already.
    func events() -> AsyncStream<ConsentQueue.Event>
    /// Answers an offer.
    /// - Returns: whether it was still waiting.
    @discardableResult
    func answer(_ number: Int, accept: Bool) -> Bool
}

extension ConsentQueue: OfferWatching {}

/// One notification for each offer that waits, with Accept and Decline; it goes when the offer does.
///
/// Sending a notification away answers nothing: the offer waits on, and can be answered elsewhere.
package struct OfferNotifications: Sendable {
    private let notifier: DesktopNotifier
    private let offers: any OfferWatching
    private let standing: @Sendable (PeerID) -> PeerStanding

    /// - Parameters:
    ///   - notifier: made with `OfferNotice.surplus`.
    ///   - standing: asked when an offer comes; returns soon.
    package init(
        notifier: DesktopNotifier,
        offers: any OfferWatching,
        standing: @escaping @Sendable (PeerID) -> PeerStanding = { _ in .stranger }
    ) {
        self.notifier = notifier
        self.offers = offers
        self.standing = standing
    }

    /// Shows offers until the task is cancelled; then closes what is shown of them.
    package func run() async {
        await withDiscardingTaskGroup { group in
            var tickets: [Int: NotificationTicket] = [:]
            for await event in offers.events() {
                switch event {
                case .waiting(let offer):
                    let ticket = notifier.show(OfferNotice.request(for: offer, from: standing(offer.peer)))
                    tickets[offer.number] = ticket
                    group.addTask { await answer(offer.number, as: ticket) }
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
