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

// The receiver's listener for AirDrop. It is open while this machine is visible to everyone: AirDrop proves no key.

extension Receiver {
    /// Listens while this machine is visible to everyone, until the task is cancelled. An error is reported, and ends
    /// nothing else.
    func listenForAirDrop(_ parts: ReceiverParts) async {
        // A connection on which a transfer was accepted outlives the visibility: nothing could resume the transfer.
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                guard settings.airdrop.isEnabled, parts.door.visibility == .everyone else {
                    airDropIs(
                        settings.airdrop.isEnabled ? "off: not visible to everyone" : "off: not enabled in config.yaml")
                    await parts.door.wait { [settings] in settings.airdrop.isEnabled && $0 == .everyone }
                    continue
                }
                do {
                    let listener = try await bindForAirDrop()
                    group.addTask {
                        do { try await self.serveAirDrop(listener, parts) } catch { self.airDropFailed(error) }
                    }
                    await whileVisible(parts) { await self.announceAirDrop(port: listener.port, parts) }
                    listener.stopAccepting()
                } catch {
                    airDropFailed(error)
                    await parts.door.wait { $0 != .everyone }
                }
            }
            group.cancelAll()
        }
    }

    /// Runs `body` until this machine is no longer visible to everyone, or the task is cancelled.
    private func whileVisible(_ parts: ReceiverParts, _ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask { await parts.door.wait { $0 != .everyone } }
            await group.next()
            group.cancelAll()
        }
    }

    private func airDropFailed(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        airDropIs("failed: \(error)")
        logger.warning("no AirDrop here", metadata: ["reason": "\(error)"])
    }

    private func serveAirDrop(_ listener: SecureListener, _ parts: ReceiverParts) async throws {
        let card = AirDropCard(name: settings.name, model: settings.airdrop.modelName)
        let door = parts.door
        let catalog = parts.catalog
        let log = logger
        let refusals = Mutex(LogRateLimiter(interval: .seconds(10)))
        let server = AirDropServer(
            reception: parts.reception, registry: { catalog.current.registry },
            refused: { fault in
                // Strangers do not fill the log.
                guard refusals.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                log.notice("a question by AirDrop was refused", metadata: ["reason": "\(fault.message)"])
            },
            remarked: { [observe] offer, peer, remarks in
                for remark in remarks {
                    observe(.remarked(offer, from: peer, entry: remark.entry, reason: remark.reason))
                }
            },
            card: { door.visibility == .everyone ? card : nil })
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

    /// Sets the words about AirDrop in `waft status`.
    private func airDropIs(_ words: String) { standing.withLock { $0.airdrop = words } }

    private func announceAirDrop(port: Int, _ parts: ReceiverParts) async {
        var publication: (any Publication)?
        let instance = AirDropDialect.makeInstance()
        airDropIs(
            parts.directory == nil ? "not published: discovery is off; port \(port)" : "being published; port \(port)")
        do {
            if let directory = parts.directory {
                var service = ServiceDescription(
                    type: AirDropDialect.serviceType, instance: instance, port: UInt16(clamping: port),
                    txt: AirDropDialect.txt(settings.airdrop.flags))
                // Those who know Apple's radio links alone connect to link-local addresses only.
                service.hasOwnHost = true
                publication = try await directory.get().publish(service)
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
