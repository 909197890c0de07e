import AirDropDialect
import Contacts
import Control
import Discovery
import HTTPChannel
import HandlerCatalog
import Logging
import NIOPosix
import SecureTransport
import Sharing
import Synchronization

// The receiver's way in for AirDrop: open while this machine is visible to everyone, for nobody proves who he is there.

extension Receiver {
    /// Listens while it may, until the task is cancelled. What goes wrong is said, and keeps nothing else from going on.
    func listenForAirDrop(_ parts: ReceiverParts) async {
        while !Task.isCancelled {
            guard settings.airdrop.isEnabled, parts.door.visibility == .everyone else {
                airDropIs(
                    settings.airdrop.isEnabled ? "off: not visible to everyone" : "off: not enabled in config.yaml")
                await parts.door.wait { [settings] in settings.airdrop.isEnabled && $0 == .everyone }
                continue
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await self.serveAirDrop(parts)
                    } catch is CancellationError {
                        return
                    } catch {
                        self.airDropIs("failed: \(error)")
                        self.logger.warning("no AirDrop here", metadata: ["reason": "\(error)"])
                        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
                    }
                }
                group.addTask { await parts.door.wait { $0 != .everyone } }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private func serveAirDrop(_ parts: ReceiverParts) async throws {
        let listener = try await bindForAirDrop()
        let card = AirDropCard(name: settings.name, model: settings.airdrop.modelName)
        let door = parts.door
        let catalog = parts.catalog
        let log = logger
        let refusals = Mutex(LogRateLimiter(interval: .seconds(10)))
        let server = AirDropServer(
            reception: parts.reception, flags: settings.airdrop.flags, registry: { catalog.current.registry },
            refused: { fault in
                // Strangers do not fill the log.
                guard refusals.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                log.notice("a question by AirDrop was refused", metadata: ["reason": "\(fault.message)"])
            },
            card: { door.visibility == .everyone ? card : nil })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run { channel, _ in
                    try HTTPServer.configure(channel)
                } onConnection: { connection in
                    await withTaskExecutorPreference(parts.threads(for: connection.place)) {
                        await server.serve(
                            connection.output, visitor: Visitor(connection.peerID, at: connection.place?.address),
                            isIdle: { connection.place?.isIdle($0) })
                    }
                }
            }
            group.addTask { await self.announceAirDrop(port: listener.port, parts) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func bindForAirDrop() async throws -> SecureListener {
        func bind(_ port: Int) async throws -> SecureListener {
            try await SecureListener.bind(
                // New each time, as the name is: nothing is to be recognised by it (security rule 14).
                SecureListener.Configuration(port: port, profile: .airdrop) { try Identity.make(kind: .rsa2048) },
                group: .singleton, logger: logger)
        }
        do {
            return try await bind(Int(AirDropDialect.defaultPort))
        } catch let error as ListenerError where error.code == .addressInUse {
            return try await bind(0)
        }
    }

    /// What `waft status` says of it.
    private func airDropIs(_ words: String) { standing.withLock { $0.airdrop = words } }

    private func announceAirDrop(port: Int, _ parts: ReceiverParts) async {
        var publication: (any Publication)?
        let instance = AirDropDialect.makeInstance()
        airDropIs(
            parts.directory == nil ? "not published: discovery is off; port \(port)" : "being published; port \(port)")
        do {
            if let directory = parts.directory {
                publication = try await directory.get().publish(
                    ServiceDescription(
                        type: AirDropDialect.serviceType, instance: instance,
                        port: UInt16(clamping: port), txt: AirDropSide.txt(settings.airdrop.flags)))
                airDropIs("published as \(instance), port \(port)")
                logger.info("reachable by AirDrop", metadata: ["port": "\(port)"])
            }
        } catch is CancellationError {
            return
        } catch {
            airDropIs("not published: \(error); port \(port)")
            logger.warning("not published for AirDrop", metadata: ["reason": "\(error)"])
        }
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
        await publication?.withdraw()
    }
}
