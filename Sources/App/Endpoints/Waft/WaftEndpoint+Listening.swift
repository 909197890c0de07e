import Contacts
import Discovery
import Foundation
import HTTPChannel
import Logging
import NIOCore
import NIOPosix
import Pairing
import SecureTransport
import Settings
import Sharing
import Synchronization
import WaftDialect

extension WaftEndpoint {
    package func listen(_ host: ReceivingHost) async throws {
        // The port that was bound last; 0 before.
        var last = 0
        while !Task.isCancelled {
            guard host.visibility.visibility != .off else {
                host.report(EndpointStatus("off: not visible"))
                await sockets.turningAway(dialect) { await host.visibility.wait { $0 != .off } }
                continue
            }
            let listener = try await bind(before: last)
            last = listener.port
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.serve(listener, host) }
                group.addTask { await host.visibility.wait { $0 == .off } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    private func serve(_ listener: SecureListener, _ host: ReceivingHost) async throws {
        let log = logger
        let refusals = Mutex(LogRateLimiter(interval: .seconds(10)))
        let visibility = host.visibility
        let server = WaftServer(
            reception: host.reception, registry: host.registry,
            refused: { peer, verdict in
                // Strangers do not fill the log.
                guard refusals.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                log.notice("an offer was refused", metadata: ["peer": "\(peer.shown)", "reason": "\(verdict.reason)"])
            },
            card: {
                host.pairing?.isOpen == true || visibility.shows(itselfTo: $0)
                    ? Card(name: host.name, device: DeviceKind.own) : nil
            })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run(isContact: { visibility.knows($0) }) { channel, _ in
                    try HTTPServer.configure(channel)
                } onConnection: { connection in
                    await withTaskExecutorPreference(host.threads(connection.place?.isContact == true)) {
                        await Self.attend(connection, server, host)
                    }
                }
            }
            group.addTask { await self.announce(port: listener.port, host) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static func attend(
        _ connection: SecureConnection<HTTPServer.Connection>, _ server: WaftServer, _ host: ReceivingHost
    ) async {
        let responder = host.pairing?.responder(for: connection.peerID) {
            try await connection.exportKeyingMaterial(
                label: PairingSession.exporterLabel, context: [], length: PairingSession.exporterBytes)
        }
        var pairing: PairingPort?
        if let responder { pairing = { await responder.answer($0) } }
        await server.serve(
            connection.output, visitor: Visitor(connection.peerID, at: connection.place?.address), pairing: pairing,
            isIdle: { connection.place?.isIdle($0) })
        responder?.end()
    }

    /// The passed socket, or else the port that was set, or else the usual one, or else any.
    /// - Parameter before: the port before it was closed for a while: the same again, also if any port would have done
    ///   at first; 0 for none.
    private func bind(before: Int) async throws -> SecureListener {
        func bind(_ port: Int, passed: Int32? = nil) async throws -> SecureListener {
            var configuration = SecureListener.Configuration(port: port, identity: identity, profile: Self.profile)
            configuration.passed = passed
            return try await SecureListener.bind(configuration, group: .singleton, logger: logger)
        }
        if let passed = sockets[dialect] {
            let listener = try await bind(0, passed: passed)
            if let port, Int(port) != listener.port, before == 0 {
                logger.notice(
                    "the socket of the service manager is used, not the port of the settings",
                    metadata: ["socket": "\(listener.port)", "port": "\(port)"])
            }
            return listener
        }
        if before > 0, let listener = try? await bind(before) { return listener }
        if let port { return try await bind(Int(port)) }
        do {
            return try await bind(Int(WaftDialect.defaultPort))
        } catch let error as ListenerError where error.code == .addressInUse {
            logger.info("the default port is in use", metadata: ["port": "\(WaftDialect.defaultPort)"])
            return try await bind(0)
        }
    }

    /// Publishes the service, reports that, and withdraws it when the task is cancelled.
    private func announce(port: Int, _ host: ReceivingHost) async {
        host.report(EndpointStatus(port: port, "off"))
        var publication: (any Publication)?
        var words = "off"
        if let directory {
            do {
                publication = try await directory.get().publish(
                    ServiceDescription(
                        type: WaftDialect.serviceType, instance: RandomInstance.name(),
                        port: UInt16(clamping: port), txt: WaftDialect.txt))
                words = "published"
            } catch is CancellationError {
                return
            } catch {
                // The receiver stays reachable by address, and the user gets a warning.
                words = "failed: \(error)"
                logger.warning(
                    "not published: others reach this machine by address only", metadata: ["reason": "\(error)"])
            }
        }
        host.report(EndpointStatus(port: port, words, isReady: true))
        // Until the end.
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
        await publication?.withdraw()
    }
}
