import Contacts
import ContentCheck
import Discovery
import Executors
import Foundation
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Logging
import Notifications
import SecureTransport
import Sharing
import UniformTypes

/// The parts of a receiver, from the inside out.
struct ReceiverParts: Sendable {
    let identity: Identity
    let inbox: FileInbox
    let journal: Journal
    let catalog: CatalogWatch
    let engine: DeliveryEngine
    let door: Doorkeeper
    let reception: Reception
    let pairing: PairingAcceptance
    let outbox: OutboxService
    private let awake: TransfersAwake
    /// Through which all services are announced; nil where none is. One for all: two responders in one process would
    /// take each other for others.
    let directory: Result<any ServiceDirectory, any Error>?
    /// Threads that may wait for the disk.
    let blocking: BlockingExecutor
    /// Separate threads for strangers' connections, so that strangers cannot occupy all threads.
    private let strangersThreads: BlockingExecutor

    /// - Throws: an error with one readable line.
    init(_ receiver: Receiver) throws {
        let (home, settings, logger) = (receiver.home, receiver.settings, receiver.logger)
        blocking = BlockingExecutor(threads: 16)
        strangersThreads = BlockingExecutor(threads: 12)
        directory =
            settings.discovery ? Result { try Directories.automatic(denied: settings.denied, logger: logger) } : nil
        identity = try Identity.load(orMakeIn: home.state)
        pairing = PairingAcceptance(
            own: identity.peerID, name: settings.name, contacts: home.contactBook(logger), blocking: blocking,
            logger: logger)
        awake = TransfersAwake(receiver.inhibitor)
        // Where nothing can be seen, addresses can be tried all the same.
        outbox = try OutboxService(receiver, identity, try? directory?.get(), receiver.inhibitor)
        let handlers = home.handlerCatalog(settings)
        let catalog = CatalogWatch(handlers, logger: logger)
        self.catalog = catalog
        journal = try Journal.openingOrReplacing(
            folder: home.state,
            unreadable: { fault in
                logger.error("a row of the journal cannot be read", metadata: ["reason": "\(fault)"])
            },
            damaged: { logger.error("the journal was damaged", metadata: ["reason": "\($0)"]) })
        let inbox = try FileInbox(
            path: home.inbox, reserve: settings.reserve, conflict: settings.conflict,
            checker: ContentChecker(types: catalog.current.registry), partials: settings.partials,
            memory: journal)
        self.inbox = inbox
        try Self.recover(journal, inbox, logger)
        let runner = HandlerRunner(
            inbox: inbox.path, scratchFolder: home.state + "/hooks", forbiddenPlaces: handlers.closed.paths,
            firstLaunches: handlers.firstLaunches, logger: logger)
        runner.sweep()
        let choice = HandlerChoice(
            catalog: { catalog.current },
            hook: receiver.hook,
            openedSchemes: Set(settings.openReceivedURLs),
            opener: SystemOpener()?.program,
            defaultTimeLimit: settings.hookTimeout,
            requiresSandbox: settings.requiresSandbox
        )
        let opensURLs = !settings.openReceivedURLs.isEmpty
        let engine = DeliveryEngine(
            journal: journal,
            choice: choice,
            caller: HandlerCalls(runner: runner),
            subject: { arrival in
                let link = opensURLs && arrival.item.kind == .url ? ReceivedLink.parts(at: arrival.stored.path) : nil
                return HandlerChoice.Subject(
                    type: arrival.type, kind: arrival.item.kind, link: link, chosen: arrival.destination.handler)
            },
            observe: { receiver.observe(.reception(.opened($0, $1))) },
            left: { receiver.relay.left($0, $1) },
            isInboxThere: { inbox.isThere },
            logger: logger
        )
        self.engine = engine
        let amounts = DayAmounts(journal)
        let door = Doorkeeper(
            home, settings, startingAs: receiver.visibility, catalog: catalog,
            dayAmount: { amounts.amount(with: $0, from: $1, at: $2) }, logger: logger)
        self.door = door
        let consents = ConsentMemory(inbox)
        consents.mend(by: journal)
        let consent = ConsentChain.make(
            people: receiver.consent, arbiter: try Self.arbiter(receiver, handlers.closed), relay: receiver.relay,
            memory: consents, door: door, conflict: settings.conflict, inbox: inbox, journal: journal, logger: logger)
        reception = Reception(
            inbox: inbox,
            journal: journal,
            gate: door.gate,
            consent: consent,
            delivery: engine,
            refusal: { choice.refusal(of: $0) },
            quota: StrangerQuota(
                limit: settings.strangerQuota, isStranger: { door.contactName(of: $0) == nil },
                occupancy: InboxOccupancy(journal: journal)),
            memory: consents,
            observe: { [awake] event in
                awake.hear(event)
                receiver.observe(.reception(event))
            }
        )
        amounts.use(reception)
    }

    /// The threads that serve a connection.
    func threads(for place: ConnectionPlace?) -> BlockingExecutor {
        place?.isContact == true ? blocking : strangersThreads
    }

    /// The program that answers offers beside the people; nil if none is set.
    private static func arbiter(_ receiver: Receiver, _ closed: ClosedPlaces) throws -> OfferArbiter? {
        guard let path = receiver.settings.arbiter else { return nil }
        do {
            return try OfferArbiter(
                path: path, scratchFolder: receiver.home.state + "/hooks", rules: receiver.settings.hookRules,
                forbiddenPlaces: closed.paths, logger: receiver.logger)
        } catch {
            throw ReceiverFailure(.setting, receiver.settings.line(about: "arbiter", "\(error)"))
        }
    }

    /// Shows offers on the desktop, if there is one, until the task is cancelled.
    func notify(_ receiver: Receiver) async {
        guard receiver.settings.notifications else { return await untilCancelled() }
        let notifier = DesktopNotifier(logger: receiver.logger, surplus: OfferNotice.surplus)
        let door = self.door
        let notifications = OfferNotifications(notifier: notifier, offers: receiver.consent) { peer in
            door.contactName(of: peer).map { .contact(name: $0) } ?? .stranger
        }
        await notifications.run()
        await notifier.stop()
    }

    private func untilCancelled() async {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
    }

    /// Settles what an earlier process was about to move into the Inbox when it died.
    private static func recover(_ journal: Journal, _ inbox: FileInbox, _ logger: Logger) throws {
        do throws(TransferFault) {
            _ = try inbox.freeRoom()
        } catch  where error == .anotherInbox {
            // Unsettled items can be found only in the known Inbox. They wait until the receiver starts with it.
            logger.error(
                "nothing is stored", metadata: ["reason": "\(error)", "inbox": "\(inbox.path)", "see": "waft status"])
            return
        } catch {
            // Senders get this error with each offer.
        }
        let unsettled = try journal.unsettled()
        guard !unsettled.isEmpty else { return }
        let folders = Set(unsettled.compactMap(\.folder))
        let found = try inbox.find(Set(unsettled.compactMap(\.identity)), in: folders)
        // The earlier process may have died before the names were on the disk, and settled items must be there.
        try inbox.syncNames(in: folders)
        let outcomes = unsettled.map { arrival in
            let stored = arrival.identity.flatMap { found[$0] }
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
                for await snapshot in catalog.changes() { use(snapshot) }
            }
        }
        catalog.stop()
    }

    /// Reads the handlers again. When this returns, they apply to all further offers and arrivals.
    func refreshHandlers() async {
        await Task(executorPreference: blocking) { use(catalog.refresh()) }.value
    }

    private func use(_ snapshot: CatalogSnapshot) {
        inbox.use(ContentChecker(types: snapshot.registry))
        engine.handlersChanged()
    }
}
