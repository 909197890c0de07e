import Contacts
import ContentCheck
import Desktop
import Endpoints
import Executors
import Foundation
import Glibc
import HandlerCatalog
import Handlers
import HookSandbox
import Inbox
import Journal
import Logging
import Protection
import Secrets
import SecureTransport
import Sending
import Settings
import Sharing
import Streams
import Synchronization
import SystemCalls
import UniformTypes

/// The parts of a receiver, from the inside out.
struct ReceiverParts: Sendable {
    let identity: Identity
    let inbox: FileInbox
    let journal: Journal
    /// The keys for protected items.
    let vault: Vault
    /// Opens protected items for handlers.
    let copies: ClearCopies
    let resealing = ResealingTurn()
    let catalog: CatalogWatch
    let engine: DeliveryEngine
    /// Locks and unlocks.
    let locks: LockControl
    /// An item may wait behind the lock, or somebody has come who can unlock.
    let waits = Broadcast<Void>(buffer: .bufferingNewest(1))
    private let choice: @Sendable () -> HandlerChoice
    private let calls: HandlerCalls
    /// The handlers that stay are to be started, or have changed.
    private let keeping = Mailbox<Void>()
    let door: VisibilityController
    let reception: Reception
    let pairing: PairingAcceptance
    let guests: GuestPages
    let outbox: OutboxService
    /// In order of preference; the receiver is known by the first one.
    let endpoints: [any Endpoint]
    let directory: SharedDirectory
    let plan: ReceiverPlan
    private let awake: TransfersAwake
    let moving: MovingTransfers
    /// The settings have changed.
    let news = Broadcast<Void>(buffer: .bufferingNewest(1))
    /// Threads that may wait for the disk.
    let blocking: BlockingExecutor
    /// Separate threads for strangers' connections, so that strangers cannot occupy all threads.
    let strangersThreads: BlockingExecutor

    /// - Throws: an error with one readable line.
    init(_ plan: ReceiverPlan) throws {
        self.plan = plan
        let (home, settings, logger) = (plan.home, plan.settings, plan.logger)
        blocking = BlockingExecutor(threads: 16)
        strangersThreads = BlockingExecutor(threads: 12)
        identity = try Identity.load(orMakeIn: home.state)
        vault = Vault(ProtectionFolder(path: home.protection), guardMemory: ProcessSecrecy.use)
        pairing = PairingAcceptance(
            own: identity.peerID, name: plan.settings.name, contacts: home.contactBook(logger), blocking: blocking,
            logger: logger)
        guests = GuestPages(plan.live)
        let inhibitor: @Sendable () -> SleepInhibitor? = { plan.settings.inhibitsSleep ? plan.inhibitor : nil }
        awake = TransfersAwake(inhibitor)
        let contacts = home.contactBook(logger)
        let moving = MovingTransfers { contacts.introduction(of: $0, callingItself: $1) }
        self.moving = moving
        let materials = EndpointParts(
            settings: plan.live, identity: identity, contacts: contacts,
            // Not the threads of incoming connections: slow peers of the outbox must not occupy those.
            blocking: BlockingExecutor(threads: 8), sockets: plan.sockets, folder: home.state,
            announces: home.announcesNow, logger: logger)
        directory = materials.directory
        endpoints = plan.kinds.map { $0.make(materials) }
        // If nothing can be seen, addresses can be tried all the same.
        let finder = PeerFinder(
            endpoints: endpoints, contacts: contacts, remembered: home.rememberedPeers,
            scanned: home.scannedPeers, searches: materials.searches)
        outbox = OutboxService(
            home: home, settings: plan.live, program: { plan.programs.current.outboxHook },
            sender: Sender(
                finder: finder, ownName: plan.settings.name, sentLog: home.sentLog, inhibitor: inhibitor(),
                watch: moving),
            logger: logger)
        let handlers = home.handlerCatalog(settings, live: plan.live)
        let catalog = CatalogWatch(handlers, logger: logger)
        self.catalog = catalog
        journal = try Journal.openingOrReplacing(
            folder: home.state, dialects: DialectTable(plan.kinds.map(\.dialect)),
            unreadable: { fault in
                logger.error("a row of the journal cannot be read", metadata: ["reason": "\(fault)"])
            },
            damaged: { logger.error("the journal was damaged", metadata: ["reason": "\($0)"]) })
        let inbox = try FileInbox(
            path: home.inbox, reserve: settings.reserve, conflict: settings.conflict,
            checker: ContentChecker(types: catalog.current.registry), partials: settings.partials,
            memory: journal, keys: ItemKeys(vault))
        self.inbox = inbox
        try Self.recover(journal, inbox, logger)
        let copies = ClearCopies(
            vault: vault, candidates: home.clearFolders, inbox: inbox.path, quota: { plan.settings.clearQuota })
        copies.sweep()
        self.copies = copies
        let runner = HandlerRunner(
            inbox: inbox.path, scratchFolder: home.state + "/hooks", forbiddenPlaces: handlers.closed.paths,
            firstLaunches: handlers.firstLaunches, copies: copies, logger: logger)
        runner.sweep()
        let opener = SystemOpener()?.program
        let choice: @Sendable () -> HandlerChoice = {
            let settings = plan.settings
            return HandlerChoice(
                catalog: { catalog.current },
                hook: plan.programs.current.hook,
                openedSchemes: Set(settings.openReceivedURLs),
                opener: opener,
                defaultTimeLimit: settings.hookTimeout,
                requiresSandbox: settings.requiresSandbox
            )
        }
        self.choice = choice
        let calls = HandlerCalls(runner: runner)
        self.calls = calls
        let observe: @Sendable (Reception.Event) -> Void = { [waits] event in
            plan.observe(.reception(event))
            if case .opened(let arrival, let answer) = event, answer.state == .later, arrival.protection.isSealed {
                waits.send(())
            }
        }
        let engine = DeliveryEngine(
            journal: journal,
            choice: choice(),
            caller: calls,
            subject: { arrival in
                let opensURLs = !plan.settings.openReceivedURLs.isEmpty
                let link = opensURLs && arrival.item.kind == .url ? copies.link(in: arrival) : nil
                return HandlerChoice.Subject(
                    type: arrival.type, kind: arrival.item.kind, link: link, chosen: arrival.destination.handler,
                    protection: arrival.protection)
            },
            observe: { observe(.opened($0, $1)) },
            left: { plan.relay.left($0, $1) },
            isInboxThere: { inbox.isThere },
            findAgain: { [journal] arrival in
                do throws(JournalError) {
                    try Self.followRenames(inbox, journal)
                    return try journal.arrival(arrival.number).flatMap { $0.stored == arrival.stored ? nil : $0 }
                } catch {
                    logger.error("a renamed item cannot be recorded", metadata: ["reason": "\(error)"])
                    return nil
                }
            },
            copies: copies,
            logger: logger
        )
        self.engine = engine
        let amounts = DayAmounts(journal)
        let door = VisibilityController(
            home, plan.live, startingAs: plan.visibility, catalog: catalog,
            dayAmount: { amounts.amount(with: $0, from: $1, at: $2) }, logger: logger)
        self.door = door
        let consents = ConsentMemory(inbox)
        consents.mend(by: journal)
        let consent = ConsentChain.make(
            people: plan.consent, arbiter: { plan.programs.current.arbiter }, relay: plan.relay,
            memory: consents, door: door, conflict: { plan.settings.conflict },
            protection: { plan.settings.protection }, inbox: inbox, journal: journal, logger: logger)
        reception = Reception(
            inbox: inbox,
            journal: journal,
            gate: door.gate,
            consent: consent,
            delivery: engine,
            refusal: { choice().refusal(of: $0) },
            quota: StrangerQuota(
                limits: { plan.settings.strangerQuota }, isStranger: { door.contactName(of: $0) == nil },
                occupancy: InboxOccupancy(journal: journal)),
            memory: consents,
            previews: { plan.settings.previews },
            observe: { [awake] event in
                awake.hear(event)
                moving.hear(event)
                observe(event)
            }
        )
        locks = LockControl(
            vault,
            Self.lockParts(
                vault, copies: copies, inbox: inbox, engine: engine, reception: reception,
                waiting: { [journal, vault] in Self.itemsBehindLock(journal, vault) },
                tell: { await calls.tell($0, to: choice().programs) }),
            logger: logger)
        amounts.use(reception)
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

    /// Records the items that their user has renamed, or moved inside the Inbox.
    static func followRenames(_ inbox: FileInbox, _ journal: Journal) throws(JournalError) {
        try journal.moved(InboxRenames.find(try journal.placesThere(), inbox: inbox.path), at: .now)
    }

    /// Settles what an earlier process was about to move into the Inbox when it died.
    private static func recover(_ journal: Journal, _ inbox: FileInbox, _ logger: Logger) throws {
        do throws(TransferError) {
            _ = try inbox.freeRoom()
        } catch  where error == .anotherInbox {
            // Unsettled items can be found only in the known Inbox. They wait until the receiver starts with it.
            logger.error(
                "nothing is stored", metadata: ["reason": "\(error)", "inbox": "\(inbox.path)", "see": "waft status"])
            return
        } catch {
            // Senders get this error with each offer.
        }
        do { try finishResealings(journal, inbox) } catch {
            logger.error("the change of an item cannot be ended", metadata: ["reason": "\(error)"])
        }
        let unsettled = try journal.unsettled()
        guard !unsettled.isEmpty else { return }
        let folders = Set(unsettled.compactMap(\.folder))
        let found = try inbox.find(Set(unsettled.compactMap(\.identity)), in: folders)
        // The earlier process may have died before the names were on the disk, and settled items must be there.
        try inbox.syncNames(in: folders)
        let outcomes = unsettled.map { arrival in
            let stored = arrival.identity.flatMap { found[$0] }.map { $0.named(asSealed: arrival.isSealedFile) }
            // A number of a file that has gone is given to another in time.
            return (number: arrival.number, stored: stored?.name.isNumbered(arrival.name) == true ? stored : nil)
        }
        try journal.settle(outcomes)
        logger.notice(
            "finished the items that an earlier run was storing",
            metadata: ["found": "\(outcomes.count { $0.stored != nil })", "of": "\(outcomes.count)"])
    }

    /// Delivers, and uses each change of the handlers, until the task is cancelled.
    func deliver() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await engine.run(on: blocking) }
            group.addTask {
                // Before the entry is written: a change that comes meanwhile is not missed.
                let changes = catalog.changes()
                await withTaskExecutorPreference(blocking) { await refreshDesktopEntry() }
                for await snapshot in changes {
                    await use(snapshot)
                    await withTaskExecutorPreference(blocking) { await refreshDesktopEntry() }
                }
            }
            group.addTask {
                for await _ in keeping { await calls.keep(choice().keptPrograms) }
            }
        }
        catalog.stop()
    }

    /// Starts the handlers that run as long as the receiver does. Returns at once.
    func startKeptHandlers() { keeping.post(()) }

    /// Reads the handlers again. When this returns, they apply to all further offers and arrivals.
    func refreshHandlers() async {
        await Task(executorPreference: blocking) { await use(catalog.refresh()) }.value
    }

    /// Gives the desktop entry, if one is installed, the schemes of the present handlers.
    private func refreshDesktopEntry() async {
        do throws(SystemError) {
            try await SchemeEntryFile()?.refresh(
                schemes: catalog.current.openedSchemes.map(\.text),
                home: Home.root(ProcessInfo.processInfo.environment))
        } catch {
            plan.logger.info("the desktop entry cannot be changed", metadata: ["reason": "\(error)"])
        }
    }

    private func use(_ snapshot: CatalogSnapshot) async {
        inbox.use(ContentChecker(types: snapshot.registry))
        engine.handlersChanged()
        await calls.useSettings(of: choice().residentPrograms)
        startKeptHandlers()
    }
}

/// Keeps the machine awake while contents come in.
final class TransfersAwake: Sendable {
    private struct Key: Hashable {
        var transfer: TransferID
        var peer: PeerID
    }

    private let inhibitor: @Sendable () -> SleepInhibitor?
    private let holds = Mutex<[Key: WakeHold]>([:])

    /// - Parameter inhibitor: nil while the machine may sleep; asked for at each event.
    init(_ inhibitor: @escaping @Sendable () -> SleepInhibitor?) {
        self.inhibitor = inhibitor
    }

    /// From the first progress, which a transfer has when its contents come, to the end that each such transfer has: an
    /// offer alone keeps nothing awake.
    func hear(_ event: Reception.Event) {
        switch event {
        case .progressed(let transfer, let peer, _, _):
            guard let inhibitor = inhibitor() else { return }
            holds.withLock { holds in
                let key = Key(transfer: transfer, peer: peer)
                guard holds[key] == nil else { return }
                let hold = WakeHold(inhibitor)
                hold.take()
                holds[key] = hold
            }
        case .ended(let transfer, let peer, _, _):
            _ = holds.withLock { $0.removeValue(forKey: Key(transfer: transfer, peer: peer)) }
        default: break
        }
    }
}

/// Bytes in the Inbox by peer: the sum of the journal without the items that people moved out or deleted by hand.
///
/// A peer decides how many items it has here. So they are looked up only when their sum comes near the peer's bound, and
/// these looks together take at most a twentieth of the time.
final class InboxOccupancy: OccupancyReading {
    /// The result of the last look.
    private struct Look {
        var found: UInt64
        /// The journal's sum then.
        var recorded: UInt64
        var next: ContinuousClock.Instant
    }

    /// Peers whose last look is remembered.
    private static let peers = 256

    private let journal: Journal
    private let looks = Mutex<[PeerID: Look]>([:])

    init(journal: Journal) { self.journal = journal }

    func occupied(by peer: PeerID, exactAbove bound: UInt64) throws(JournalError) -> UInt64 {
        let recorded = try journal.occupied(by: peer)
        guard recorded > bound else { return recorded }
        let start = ContinuousClock.now
        if let look = looks.withLock({ $0[peer] }), start < look.next {
            return look.found + (recorded > look.recorded ? recorded - look.recorded : 0)
        }
        let found = try look(for: peer)
        let look = Look(found: found, recorded: recorded, next: .now + start.duration(to: .now) * 20)
        looks.withLock { looks in
            if looks.count >= Self.peers { looks = looks.filter { $0.value.next > start } }
            if looks.count < Self.peers { looks[peer] = look }
        }
        return found
    }

    private func look(for peer: PeerID) throws(JournalError) -> UInt64 {
        try journal.lying(from: peer).reduce(0) { sum, item in
            var status = stat()
            guard lstat(item.path, &status) == 0 || errno != ENOENT else { return sum }
            let (total, overflow) = sum.addingReportingOverflow(
                Footprint(bytes: item.size, entries: item.entries).bytes)
            return overflow ? .max : total
        }
    }
}
