package import Contacts
import Control
import Discovery
import HTTPChannel
import HandlerCatalog
import Handlers
import HookSandbox
package import Logging
import NIOCore
import NIOPosix
import SecureTransport
import ServiceLifecycle
package import Sharing
import Synchronization
import SystemCalls
import WaftDialect
import Wakefulness

/// Why a receiver could not start or go on: one line for the user.
package struct ReceiverFailure: Error, CustomStringConvertible {
    package enum Code: Sendable {
        /// A setting that the user can change.
        case setting
        /// Another one runs for this user and home.
        case alreadyRunning
        case unexpected
    }

    package let code: Code
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// A whole receiver: listens, is found, judges, stores, calls the hook, and answers on the control socket.
package final class Receiver: Service {
    /// The offers that wait. Every source of answers uses this queue.
    package let consent: ConsentQueue

    let home: Home
    let settings: Settings
    /// The hook of the configuration.
    let hook: HandlerProgram?
    let logger: Logger
    let observe: @Sendable (ReceiverEvent) -> Void
    /// Nil where the machine may sleep.
    let inhibitor: SleepInhibitor?
    /// The events for watchers on the control socket.
    let events: EventFeed
    let relay: EventRelay
    /// Overrides the stored visibility until the user chooses one with `waft visible`; nil uses the stored one.
    let visibility: Visibility?
    let standing = Mutex(Standing())
    /// The state of the configuration file when the settings were read; nil for no file.
    let settingsStamp: Mutex<FileStamp?>

    /// The facts for `waft status`, filled in as they become known.
    struct Standing {
        var id: PeerID?
        /// 0 while it is closed.
        var port = 0
        /// The last one that was bound; 0 before.
        var lastPort = 0
        var discovery = "off"
        var airdrop = "off"
    }

    /// - Parameters:
    ///   - visibility: overrides the stored visibility until the user chooses one while the receiver runs; nil uses the
    ///     stored one. A receiver that takes everything from everyone starts visible to everyone.
    ///   - observe: called for each event, from any thread; returns soon.
    /// - Throws: `ReceiverFailure` for a hook that cannot be run.
    package init(
        home: Home,
        settings: Settings,
        visibility: Visibility? = nil,
        logger: Logger,
        observe: @escaping @Sendable (ReceiverEvent) -> Void
    ) throws(ReceiverFailure) {
        self.home = home
        self.settings = settings
        self.visibility = settings.accept == .everyone ? .everyone : visibility
        self.logger = logger
        settingsStamp = Mutex(home.configurationStamp)
        let events = EventFeed()
        let relay = EventRelay(home.contactBook(logger), isWatched: { events.isWatched }, tell: { events.send($0) })
        (self.events, self.relay) = (events, relay)
        inhibitor = settings.inhibitsSleep ? SleepInhibitor(logger: logger) : nil
        let announcement = OfferAnnouncement(settings.accept) { event in
            observe(event)
            relay.see(event)
        }
        self.observe = { announcement.see($0) }
        consent = ConsentQueue(rule: settings.accept) { offer in
            announcement.entered(offer)
            relay.entered(offer)
        }
        do {
            hook = try HandlerProgram.hook(settings, home)
        } catch {
            throw ReceiverFailure(.setting, error.description)
        }
    }

    /// Warns the user before anything arrives.
    private func sayWhatIsMissing(_ parts: ReceiverParts) {
        let sandbox = HookSandbox.support
        if !sandbox.gaps.isEmpty {
            let consequence =
                settings.requiresSandbox && sandbox.abi == 0
                ? "handlers are not run" : "handlers are not fully sandboxed"
            logger.warning("\(consequence)", metadata: ["sandbox": "\(sandbox)"])
        }
        parts.door.sayUnknownContacts(settings.policy)
        for problem in parts.catalog.current.problems where problem.severity == .unusable {
            logger.warning(
                "a handler cannot be used", metadata: ["path": "\(problem.path)", "reason": "\(problem.reason)"])
        }
    }

    /// Runs until the service group shuts down.
    package func run() async throws {
        try await cancelWhenGracefulShutdown { try await self.receive() }
    }

    /// Runs until the task is cancelled. Everything it has started has ended when it returns.
    /// - Throws: `ReceiverFailure` when it cannot start or a part of it broke.
    package func receive() async throws {
        do {
            try home.makeFolders()
            // The template sets nothing: it is no change.
            if ConfigurationTemplate.writeIfMissing(at: home.configurationFile) {
                settingsStamp.withLock { $0 = home.configurationStamp }
            }
            try home.checkTrust()
            try home.checkInboxTrust()
            let socket = try ControlSocket(folder: home.run)
            let control = try await ControlServer.bind(
                socket, on: MultiThreadedEventLoopGroup.singleton, logger: logger)
            try await withThrowingTaskGroup(of: Void.self) { group in
                let parts = try ReceiverParts(self)
                standing.withLock { $0.id = parts.identity.peerID }
                sayWhatIsMissing(parts)
                group.addTask { await control.run(events: self.events) { await self.reply(to: $0, parts) } }
                group.addTask { try await self.listen(parts) }
                group.addTask { await self.listenForAirDrop(parts) }
                group.addTask { await parts.deliver() }
                group.addTask { await parts.notify(self) }
                group.addTask { await parts.outbox.run(on: parts.blocking) }
                group.addTask {
                    await Housekeeping(
                        inbox: parts.inbox, journal: parts.journal, executor: parts.blocking, logger: self.logger
                    ).run()
                }
                // Either ends only when it is cancelled, or broken.
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let failure as ReceiverFailure {
            throw failure
        } catch is CancellationError {
            return
        } catch let error as PathTrustError {
            throw ReceiverFailure(.setting, error.description)
        } catch let error as ControlError where error.code == .pathTooLong {
            throw ReceiverFailure(.setting, error.description)
        } catch let error as ControlError where error.code == .alreadyRunning {
            throw ReceiverFailure(.alreadyRunning, error.description)
        } catch let error as ListenerError {
            throw ReceiverFailure(.setting, "\(error); choose another with --port")
        } catch {
            throw ReceiverFailure(.unexpected, "\(error)")
        }
    }

    // MARK: The network

    /// Listens whenever the receiver is visible to any peer.
    private func listen(_ parts: ReceiverParts) async throws {
        defer { parts.reception.stop() }
        while !Task.isCancelled {
            guard parts.door.visibility != .off else {
                standing.withLock { ($0.port, $0.discovery) = (0, "off: not visible") }
                events.becameUnreachable()
                await parts.door.wait { $0 != .off }
                continue
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.serve(parts) }
                group.addTask { await parts.door.wait { $0 == .off } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func serve(_ parts: ReceiverParts) async throws {
        let listener = try await bind(parts.identity)
        let port = listener.port
        standing.withLock { ($0.port, $0.lastPort) = (port, port) }
        let card = Card(name: settings.name, device: DeviceKind.own)
        let catalog = parts.catalog
        let log = logger
        let refusals = Mutex(LogRateLimiter(interval: .seconds(10)))
        let door = parts.door
        let server = WaftServer(
            reception: parts.reception, registry: { catalog.current.registry },
            refused: { peer, verdict in
                // Strangers do not fill the log.
                guard refusals.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                log.notice("an offer was refused", metadata: ["peer": "\(peer.shown)", "reason": "\(verdict.reason)"])
            },
            card: { parts.pairing.isOpen || door.shows(itselfTo: $0) ? card : nil })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run(isContact: { door.knows($0) }) { channel, _ in
                    try HTTPServer.configure(channel, inlet: BodyInlet(channel))
                } onConnection: { connection in
                    await withTaskExecutorPreference(parts.threads(for: connection.place)) {
                        let pairing = parts.pairing.responder(for: connection)
                        await server.serve(
                            connection.output, visitor: Visitor(connection.peerID, at: connection.place?.address),
                            pairing: { await pairing.answer($0) }, isIdle: { connection.place?.isIdle($0) })
                        pairing.end()
                    }
                }
            }
            group.addTask {
                await self.announce(port: port, parts) {
                    let ready = ReceiverEvent.ready(
                        id: parts.identity.peerID, name: self.settings.name, port: port, inbox: self.home.inbox,
                        visibility: parts.door.visibility)
                    self.observe(ready)
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// The port that was set, or else the usual one, or else any.
    private func bind(_ identity: Identity) async throws -> SecureListener {
        func bind(_ port: Int) async throws -> SecureListener {
            try await SecureListener.bind(
                SecureListener.Configuration(port: port, identity: identity),
                group: .singleton,
                logger: logger
            )
        }
        // The same again after it was closed for a while, also where any port would have done at first.
        let before = standing.withLock { $0.lastPort }
        if before > 0, let listener = try? await bind(before) { return listener }
        if let port = settings.port { return try await bind(Int(port)) }
        do {
            return try await bind(Int(WaftDialect.defaultPort))
        } catch let error as ListenerError where error.code == .addressInUse {
            logger.info("the default port is in use", metadata: ["port": "\(WaftDialect.defaultPort)"])
            return try await bind(0)
        }
    }

    /// Publishes the service once the listener is bound, reports that, and withdraws it when the task is cancelled.
    private func announce(port: Int, _ parts: ReceiverParts, ready: () -> Void) async {
        var publication: (any Publication)?
        if let directory = parts.directory {
            do {
                publication = try await directory.get().publish(
                    ServiceDescription(
                        type: WaftDialect.serviceType,
                        instance: RandomInstance.name(),
                        port: UInt16(clamping: port),
                        txt: WaftDialect.txt
                    ))
                standing.withLock { $0.discovery = "published" }
            } catch is CancellationError {
                return
            } catch {
                // The receiver stays reachable by address, and the user gets a warning.
                standing.withLock { $0.discovery = "failed: \(error)" }
                logger.warning(
                    "not published: others reach this machine by address only", metadata: ["reason": "\(error)"])
            }
        }
        ready()
        // Until the end.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
        await publication?.withdraw()
    }
}

extension BodyInlet {
    /// Past a channel of a `SecureListener`.
    fileprivate init(_ channel: any Channel) {
        self.init {
            guard let loan = channel.borrowInbound() else { return nil }
            return { loan.receive() }
        } close: {
            channel.returnInbound()
        }
    }
}
