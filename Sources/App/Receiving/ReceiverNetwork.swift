import Contacts
import Endpoints
import Executors
import Handlers
import SecureTransport
import Sending
import Settings

/// The endpoints of a receiver, and the outbox, which sends through them.
struct ReceiverNetwork: Sendable {
    /// In order of preference; the receiver is known by the first one.
    let endpoints: [any Endpoint]
    let directory: SharedDirectory
    let outbox: OutboxService
    let radio: Radio

    init(_ plan: ReceiverPlan, _ identity: Identity) {
        let (home, logger) = (plan.home, plan.logger)
        let contacts = home.contactBook(logger)
        let materials = EndpointParts(
            settings: plan.live, identity: identity, contacts: contacts,
            // Not the threads of incoming connections: slow peers of the outbox must not occupy those.
            blocking: BlockingExecutor(threads: 8), sockets: plan.sockets, folder: home.state,
            announces: home.announcesNow, logger: logger)
        (directory, radio) = (materials.directory, materials.radio)
        endpoints = plan.kinds.map { $0.make(materials) }
        // If nothing can be seen, addresses can be tried all the same.
        let finder = PeerFinder(
            endpoints: endpoints, contacts: contacts, remembered: home.rememberedPeers,
            scanned: home.scannedPeers, searches: materials.searches)
        outbox = OutboxService(
            home: home, settings: plan.live, program: { plan.programs.current.outboxHook },
            sender: Sender(
                finder: finder, ownName: plan.settings.name, sentLog: home.sentLog,
                inhibitor: plan.listeners.awake.wanted, watch: plan.listeners.moving),
            logger: logger)
    }
}
