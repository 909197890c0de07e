import Contacts
import Control
import Desktop
import Lines
import Logging
import Sending
import ServiceManager
import Settings
import Sharing

/// The parts that hear of the events of a receiver, and the queue of the offers that they tell of.
struct ReceiverListeners: Sendable {
    /// The offers that wait. Every source of answers uses this queue.
    let consent: ConsentQueue
    let relay: EventRelay
    /// Shown on the desktop while the settings say so.
    let arrivals = ArrivalNotifications()
    /// Tells the service manager about this receiver; nil if none waits for that.
    let reports: ServiceReports?
    let awake: TransfersAwake
    let moving: MovingTransfers
    let waits = LockWaits()
    /// The transfers that the user lets in by spoken codes.
    let permits = TransferPermits()
    private let all: Listeners<ReceiverEvent>

    /// - Parameters:
    ///   - feed: for the watchers on the control socket.
    ///   - manager: the service manager that waits for notices of this receiver; nil for none.
    ///   - observe: called for each event, from any thread; returns soon.
    init(
        _ home: Home, _ live: LiveSettings, feed: EventFeed, manager: ServiceManager?, logger: Logger,
        observe: @escaping @Sendable (ReceiverEvent) -> Void
    ) {
        let name: @Sendable () -> String = { live.current.name }
        let relay = EventRelay(
            home.contactBook(logger), isWatched: { feed.isWatched }, name: name,
            rule: { live.current.relay }, tell: { feed.send($0) })
        let consent = ConsentQueue(rule: live.current.accept) { relay.entered($0) }
        let reports = manager.map { ServiceReports($0, name: name, consent: consent, logger: logger) }
        let awake = TransfersAwake(SleepInhibitor(logger: logger), settings: live)
        let contacts = home.contactBook(logger)
        let moving = MovingTransfers { contacts.introduction(of: $0, callingItself: $1) }
        (self.relay, self.consent, self.reports, self.awake, self.moving) = (relay, consent, reports, awake, moving)
        all = Listeners([
            Self.ofTransfers(awake.hear),
            Self.ofTransfers { moving.hear($0) },
            observe,
            relay.see,
            Self.ofTransfers { [arrivals] event in
                if live.current.notifications.includesArrivals { arrivals.see(event) }
            },
            { reports?.saw($0) },
            Self.ofTransfers(waits.hear),
            Self.ofTransfers { [permits] in permits.hear($0) },
        ])
    }

    func tell(_ event: ReceiverEvent) { all.tell(event) }

    /// The same listeners, for the events of the reception.
    var ofReception: Listeners<Reception.Event> { all.hearing { .reception($0) } }

    private static func ofTransfers(
        _ hear: @escaping @Sendable (Reception.Event) -> Void
    ) -> Listeners<ReceiverEvent>.Listener {
        { event in
            if case .reception(let event) = event { hear(event) }
        }
    }
}
