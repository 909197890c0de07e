import Contacts
import Executors
import HandlerCatalog
import Handlers
import HookSandbox
import Inbox
import Journal
import Logging
import SecureTransport
import Sending
import Settings
import Sharing
import Streams

/// The parts of a receiver, from the inside out.
struct ReceiverParts: Sendable {
    let plan: ReceiverPlan
    let identity: Identity
    let store: ReceiverStore
    let network: ReceiverNetwork
    let pairing: PairingAcceptance
    let guests: GuestPages
    let engine: DeliveryEngine
    let door: VisibilityController
    let reception: Reception
    let catalog: CatalogWatch
    /// Keeps the handlers as the catalog and the settings have them.
    let handlers: HandlerUpkeep
    let protection: LockReplies
    let lock: ReceiverLock
    let notices: DesktopNotices
    let radio: RadioKeeper
    /// The settings have changed.
    let news = Broadcast<Void>(buffer: .bufferingNewest(1))
    /// Threads that may wait for the disk.
    let blocking = BlockingExecutor(threads: 16)
    /// Separate threads for strangers' connections, so that strangers cannot occupy all threads.
    let strangersThreads = BlockingExecutor(threads: 12)

    /// - Throws: an error with one readable line.
    init(_ plan: ReceiverPlan) throws {
        self.plan = plan
        let (home, logger) = (plan.home, plan.logger)
        identity = try Identity.load(orMakeIn: home.state)
        pairing = PairingAcceptance(
            own: identity.peerID, name: plan.settings.name, contacts: home.contactBook(logger),
            permits: plan.listeners.permits, blocking: blocking, logger: logger)
        guests = GuestPages(plan.live)
        network = ReceiverNetwork(plan, identity)
        let places = home.handlerCatalog(plan.settings, live: plan.live)
        catalog = CatalogWatch(places, logger: logger)
        store = try ReceiverStore(plan, catalog: catalog)
        let runner = HandlerRunner(
            inbox: store.inbox.path, scratchFolder: home.state + "/hooks", forbiddenPlaces: places.closed.paths,
            firstLaunches: places.firstLaunches, copies: store.copies, logger: logger)
        runner.sweep()
        let (current, calls) = (CurrentHandlers(catalog, plan), HandlerCalls(runner: runner))
        engine = Self.engine(plan, store, current, calls)
        let amounts = DayAmounts(store.journal)
        door = VisibilityController(
            home, plan.live, startingAs: plan.visibility, catalog: catalog,
            dayAmount: { amounts.amount(with: $0, from: $1, at: $2) },
            guests: CodeGuests(pairing, plan.listeners.permits), logger: logger)
        reception = Self.reception(plan, store, door, current, engine)
        amounts.use(reception)
        handlers = HandlerUpkeep(
            current, calls: calls, engine: engine, inbox: store.inbox, blocking: blocking, logger: logger)
        let standing = LockStanding(vault: store.copies.vault, journal: store.journal, settings: plan.live)
        let locks = LockControl(
            store.copies.vault, .init(store, standing, handlers: handlers, engine: engine, reception: reception),
            logger: logger)
        protection = LockReplies(
            standing: standing, locks: locks,
            resealing: ItemResealing(store, engine, blocking: blocking, logger: logger))
        lock = ReceiverLock(
            standing: standing, locks: locks, engine: engine, copies: store.copies, news: news,
            listeners: plan.listeners, blocking: blocking, logger: logger)
        radio = RadioKeeper(network.radio, door, home: home, logger: logger)
        notices = DesktopNotices(
            plan: plan, door: door, catalog: catalog, standing: standing, news: news, blocking: blocking)
    }

    private static func engine(
        _ plan: ReceiverPlan, _ store: ReceiverStore, _ current: CurrentHandlers, _ calls: HandlerCalls
    ) -> DeliveryEngine {
        let (copies, inbox, listeners) = (store.copies, store.inbox, plan.listeners)
        return DeliveryEngine(
            journal: store.journal,
            caller: calls,
            surroundings: DeliverySurroundings(
                choice: current.choice,
                subject: { current.subject($0, copies) },
                observe: { listeners.tell(.reception(.opened($0, $1))) },
                left: { listeners.relay.left($0, $1) },
                isInboxThere: { inbox.isThere },
                findAgain: { store.findAgain($0) },
                copies: copies),
            logger: plan.logger
        )
    }

    private static func reception(
        _ plan: ReceiverPlan, _ store: ReceiverStore, _ door: VisibilityController, _ current: CurrentHandlers,
        _ engine: DeliveryEngine
    ) -> Reception {
        let quota = StrangerQuota(
            limits: { plan.settings.strangerQuota }, isStranger: { door.contactName(of: $0) == nil },
            occupancy: InboxOccupancy(journal: store.journal))
        return Reception(
            inbox: store.inbox, journal: store.journal, gate: door.gate,
            consent: ConsentChain.make(plan, store, door), delivery: engine,
            memory: store.consents,
            rules: ReceptionRules(eligibility: current, quota: quota, previews: { plan.settings.previews }),
            events: plan.listeners.ofReception)
    }

    /// Warns the user before anything arrives.
    func sayWhatIsMissing() {
        let sandbox = HookSandbox.support
        if !sandbox.gaps.isEmpty {
            let consequence =
                plan.settings.requiresSandbox && sandbox.abi == 0
                ? "handlers are not run" : "handlers are not fully sandboxed"
            plan.logger.warning("\(consequence)", metadata: ["sandbox": "\(sandbox)"])
        }
        door.sayUnknownContacts(plan.settings.policy)
        for problem in catalog.current.problems where problem.severity == .unusable {
            plan.logger.warning(
                "a handler cannot be used", metadata: ["path": "\(problem.path)", "reason": "\(problem.reason)"])
        }
    }
}
