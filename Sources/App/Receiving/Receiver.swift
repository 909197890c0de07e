package import Contacts
import Control
import Desktop
package import Endpoints
import HandlerCatalog
import Handlers
import Lines
package import Logging
import NIOPosix
import SecureTransport
import Sending
package import ServiceManager
package import Settings
package import Sharing
import Synchronization
import SystemCalls

/// A whole receiver: listens, is found, judges, stores, calls the hook, and answers on the control socket.
package final class Receiver: Sendable {
    let plan: ReceiverPlan
    /// The events for watchers on the control socket.
    let events: EventFeed
    /// The status of each endpoint, by the name of its dialect, and the id of this peer once it is known.
    let standing = Mutex(Status())
    /// The parts, once there are any.
    private let running = Mutex<ReceiverParts?>(nil)
    /// Reads the settings again.
    let reload: SettingsReload

    /// The facts for `waft status`, filled in as they become known.
    struct Status {
        var id: PeerID?
        var endpoints: [Dialect: EndpointStatus] = [:]
    }

    var home: Home { plan.home }
    var settings: Settings { plan.settings }
    var relay: EventRelay { plan.listeners.relay }
    var logger: Logger { plan.logger }
    /// The offers that wait. Every source of answers uses this queue.
    package var consent: ConsentQueue { plan.consent }

    /// Answers an offer at the receiver's own terminal, which shows what arrives.
    /// - Parameter number: of the offer.
    package func answerHere(_ number: Int, accept: Bool) {
        // Before the answer: then the contents come.
        if accept, settings.notifications.includesArrivals,
            let offer = consent.offers.first(where: { $0.number == number })
        {
            plan.listeners.arrivals.acceptedHere(offer.offer.transfer, from: offer.peer)
        }
        consent.answer(number, accept: accept)
    }

    /// - Parameters:
    ///   - settings: this receiver changes them when it reads the file again.
    ///   - visibility: overrides the stored visibility until the user chooses one while the receiver runs; nil uses the
    ///     stored one. A receiver that takes everything from everyone starts visible to everyone.
    ///   - kinds: the dialects to speak, in order of preference.
    ///   - sockets: those that the service manager has opened, by the names of `passedSockets`.
    ///   - manager: the service manager that waits for notices of this receiver; nil for none.
    ///   - observe: called for each event, from any thread; returns soon.
    package init(
        home: Home,
        settings: LiveSettings,
        visibility: Visibility? = nil,
        kinds: [EndpointKind] = Endpoints.all,
        sockets: PassedSockets = PassedSockets(),
        manager: ServiceManager? = nil,
        logger: Logger,
        observe: @escaping @Sendable (ReceiverEvent) -> Void
    ) {
        let stamp = home.configurationStamp
        let (live, settings) = (settings, settings.current)
        let events = EventFeed()
        plan = ReceiverPlan(
            home: home, live: live, programs: CurrentPrograms(ReceiverPrograms(settings, home, logger)),
            visibility: settings.accept == .everyone && visibility != .off ? .everyone : visibility, kinds: kinds,
            sockets: sockets,
            listeners: ReceiverListeners(home, live, feed: events, manager: manager, logger: logger, observe: observe),
            logger: logger)
        reload = SettingsReload(
            plan, SettingsSource(home: home, start: settings, dialects: DialectTable(kinds.map(\.dialect))), stamp)
        self.events = events
    }

    private static let controlSocket = "control"

    /// The sockets that a service manager can open for a receiver.
    package static let passedSockets: [String: PassedSockets.Kind] =
        Endpoints.sockets.merging([controlSocket: .local]) { endpoint, _ in endpoint }

    /// Runs until the task is cancelled. Everything it has started has ended when it returns.
    /// - Throws: `ReceiverError` when it cannot start or a part of it broke.
    package func receive() async throws {
        try await withTaskCancellationHandler {
            try await start()
        } onCancel: {
            plan.listeners.reports?.stopping()
        }
    }

    private func start() async throws {
        do {
            try home.makeFolders()
            // The template sets nothing: it is no change.
            if ConfigurationTemplate.writeIfMissing(at: home.configurationFile) { await reload.noteTemplate() }
            try home.checkTrust()
            try home.checkInboxTrust()
            try await reload.judge(settings)
            let socket = try ControlSocket(folder: home.run)
            let control = try await ControlServer.bind(
                socket, passed: plan.sockets[Self.controlSocket], on: MultiThreadedEventLoopGroup.singleton,
                logger: logger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let parts = try ReceiverParts(plan)
                running.withLock { $0 = parts }
                defer { running.withLock { $0 = nil } }
                standing.withLock { $0.id = parts.identity.peerID }
                parts.sayWhatIsMissing()
                group.addTask { await control.run(events: self.events) { await self.reply(to: $0, parts) } }
                group.addTask { await self.reload.watch(parts) { self.ports } }
                group.addTask { try await self.listen(parts) }
                if let reports = plan.listeners.reports { group.addTask { await reports.run(parts) } }
                group.addTask { await parts.handlers.run() }
                group.addTask { await parts.notices.run() }
                group.addTask {
                    await parts.door.follow {
                        var line = parts.door.line
                        line.take(parts.radio.standing)
                        self.events.send(.visibility(line))
                        self.events.send(.contacts)
                        return true
                    }
                }
                group.addTask { await parts.door.followGuests() }
                group.addTask { await parts.radio.run() }
                group.addTask { await parts.lock.run() }
                group.addTask { await parts.network.outbox.run(on: parts.blocking) }
                let housekeeping = Housekeeping(
                    inbox: parts.store.inbox, journal: parts.store.journal, reception: parts.reception,
                    executor: parts.blocking, logger: self.logger)
                group.addTask { await housekeeping.run() }
                group.addTask { await housekeeping.settle() }
                // Either ends only when it is cancelled, or broken.
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let failure as ReceiverError {
            throw failure
        } catch is CancellationError {
            return
        } catch let error as PathTrustError {
            throw ReceiverError(.setting, error.description)
        } catch let error as ControlError where error.code == .pathTooLong {
            throw ReceiverError(.setting, error.description)
        } catch let error as ControlError where error.code == .alreadyRunning {
            throw ReceiverError(.alreadyRunning, error.description)
        } catch let error as ListenerError {
            guard error.code != .failed else { throw ReceiverError(.unexpected, "\(error)") }
            throw ReceiverError(.setting, "\(error); choose another with --port")
        } catch {
            throw ReceiverError(.unexpected, "\(error)")
        }
    }

    /// Reads the settings again, as after a change of the file. Before the receiver runs, nothing happens.
    package func reloadSettings() async {
        guard let parts = running.withLock({ $0 }) else { return }
        _ = await reload.reload(parts) { self.ports }
    }

    // MARK: The network

    /// The ports on which the endpoints listen; 0 for one that does not.
    var ports: [Dialect: Int] { standing.withLock { $0.endpoints.mapValues(\.port) } }

    /// Listens by all dialects. The first one that ends, broken, ends the others.
    private func listen(_ parts: ReceiverParts) async throws {
        defer { parts.reception.stop() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for endpoint in parts.network.endpoints {
                let host = host(for: endpoint.dialect, parts)
                group.addTask { try await endpoint.listen(host) }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func host(for dialect: Dialect, _ parts: ReceiverParts) -> ReceivingHost {
        let catalog = parts.catalog
        let listeners = plan.listeners
        return ReceivingHost(
            reception: parts.reception, visibility: parts.door, name: self.settings.name,
            registry: { catalog.current.registry }, pairing: parts.pairing,
            pages: parts.guests,
            threads: { isContact in isContact ? parts.blocking : parts.strangersThreads },
            remarked: { listeners.tell(.remarked($0, from: $1, entry: $2, reason: $3)) },
            passesOn: { listeners.moving.passesOn($0, to: $1) },
            report: { self.learn($0, of: dialect, parts) })
    }

    /// The receiver has the port of its first endpoint, and is ready when that one is.
    private func learn(_ status: EndpointStatus, of dialect: Dialect, _ parts: ReceiverParts) {
        let before = standing.withLock { $0.endpoints.updateValue(status, forKey: dialect) }
        guard dialect == parts.network.endpoints.first?.dialect, before != status else { return }
        plan.listeners.reports?.learn(port: status.port)
        if status.isReady {
            guard before?.isReady != true || before?.port != status.port else { return }
            parts.handlers.startKept()
            plan.listeners.tell(
                .ready(
                    id: parts.identity.peerID, name: settings.name, port: status.port, inbox: home.inbox,
                    visibility: parts.door.visibility))
        } else if status.port == 0 {
            events.becameUnreachable()
        }
    }
}
