import Contacts
import Discovery
import Foundation
import HTTPChannel
import Logging
import NIOCore
import NIOPosix
import Pairing
import SecureTransport
package import Settings
import Sharing
import Synchronization
import WaftDialect

extension WaftEndpoint {
    package func listen(_ host: ReceivingHost) async throws {
        // The port that was bound last; 0 for none.
        var last = 0
        while !Task.isCancelled {
            guard host.visibility.isListening else {
                host.report(EndpointStatus("off: not visible"))
                await sockets.turningAway(dialect) { await host.visibility.wait { _ in host.visibility.isListening } }
                continue
            }
            last = try await listenWhileVisible(host, before: last)
        }
    }

    private enum Ending { case ofListener, ofAnnouncement }

    /// Listens until this machine is not visible to anybody. If the settings name another port, that one is opened
    /// first, and the connections to the old one go on.
    /// - Returns: the port that was bound last.
    private func listenWhileVisible(_ host: ReceivingHost, before: Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Ending.self) { group in
            defer { group.cancelAll() }
            func serve(_ listener: SecureListener) {
                group.addTask {
                    try await self.serve(listener, host)
                    return .ofListener
                }
            }
            var listener = try await bind(before: before, host)
            serve(listener)
            while true {
                let (port, wanted) = (listener.port, settings.current.port)
                group.addTask {
                    let isOver: @Sendable () -> Bool = {
                        !host.visibility.isListening || settings.current.port != wanted
                    }
                    await host.visibility.run(until: { _ in isOver() }) { await announce(port: port, host) }
                    return .ofAnnouncement
                }
                while try await group.next() == .ofListener {}
                guard !Task.isCancelled, host.visibility.isListening else { return port }
                guard let next = try await bind(insteadOf: port, host) else { continue }
                serve(next)
                await listener.stopAccepting()
                listener = next
            }
        }
    }

    package func check(_ settings: Settings, listeningOn port: Int) async throws {
        // A port that the present settings name is perhaps being opened at this moment.
        guard sockets[dialect] == nil, let wanted = settings.port, Int(wanted) != port,
            wanted != self.settings.current.port
        else { return }
        try await bind(Int(wanted)).close()
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
            relay: { settings.current.relay },
            card: {
                host.pairing?.isOpen == true || visibility.shows(itselfTo: $0)
                    ? host.card : nil
            })
        try await listener.run(isContact: { visibility.knows($0) }) { channel, _ in
            try HTTPServer.configure(channel)
        } onConnection: { connection in
            await withTaskExecutorPreference(host.threads(connection.place?.isContact == true)) {
                await attend(connection, server, host)
            }
        }
    }

    private func attend(
        _ connection: SecureConnection<HTTPServer.Connection>, _ server: WaftServer, _ host: ReceivingHost
    ) async {
        if connection.applicationProtocol == WaftDialect.codeALPN {
            return await NameplateServer.serve(connection.output) { nameplate in
                // Nil says that it was asked too often.
                guard let pairing = host.pairing else { return false }
                let asker = connection.remoteAddress.flatMap { DialAddress(of: $0) }?.hostText
                return pairing.shows(nameplate: nameplate, to: asker)
            }
        }
        let address = connection.remoteAddress.flatMap { DialAddress(of: $0) }
        let responder = host.pairing?.responder(for: connection.peerID, at: address) { purpose in
            try await connection.exportKeyingMaterial(
                label: purpose.exporterLabel, context: [], length: PairingSession.exporterBytes)
        }
        var pairing: PairingPort?
        if let responder { pairing = { await responder.answer($0) } }
        await server.serve(
            connection.output, visitor: Visitor(of: connection, asksForRadio: true), pairing: pairing,
            reach: { reach(from: connection.channel.localAddress, passesOn: host.passesOn) },
            isIdle: { connection.place?.isIdle($0) })
        responder?.end()
    }

    /// The passed socket, or else the port that was set, or else the usual one, or else any.
    /// - Parameter before: the port before it was closed for a while: the same again, also if any port would have done
    ///   at first; 0 for none.
    private func bind(before: Int, _ host: ReceivingHost) async throws -> SecureListener {
        let port = settings.current.port
        if let passed = sockets[dialect] {
            let listener = try await bind(0, host, passed: passed)
            if let port, Int(port) != listener.port, before == 0 {
                logger.notice(
                    "the socket of the service manager is used, not the port of the settings",
                    metadata: ["socket": "\(listener.port)", "port": "\(port)"])
            }
            return listener
        }
        let mayStay = [nil, 0, UInt16(before)].contains(port)
        if before > 0, mayStay, let listener = try? await bind(before, host) { return listener }
        if let port { return try await bind(Int(port), host) }
        do {
            return try await bind(Int(WaftDialect.defaultPort), host)
        } catch let error as ListenerError where error.code == .addressInUse {
            logger.info("the default port is in use", metadata: ["port": "\(WaftDialect.defaultPort)"])
            return try await bind(0, host)
        }
    }

    /// - Returns: nil if the open port is as the settings want it, or theirs cannot be opened.
    private func bind(insteadOf open: Int, _ host: ReceivingHost) async throws -> SecureListener? {
        let port = settings.current.port
        let wanted = Int(port ?? WaftDialect.defaultPort)
        guard sockets[dialect] == nil, ![0, open].contains(wanted) else { return nil }
        do {
            return try await bind(wanted, host)
        } catch let error as ListenerError {
            // If none is set, any will do. One that is set was free when the settings were read.
            if port != nil {
                logger.error("the port stays as it is", metadata: ["port": "\(open)", "reason": "\(error)"])
            }
            return nil
        }
    }

    private func bind(_ port: Int, _ host: ReceivingHost? = nil, passed: Int32? = nil) async throws -> SecureListener {
        var profile = Self.profile
        if let pairing = host?.pairing {
            profile.applicationProtocols.append(WaftDialect.codeALPN)
            profile.otherIdentity = .init(for: WaftDialect.codeALPN) { try pairing.identityForAskers() }
        }
        var configuration = SecureListener.Configuration(port: port, identity: identity, profile: profile)
        configuration.passed = passed
        return try await SecureListener.bind(configuration, group: .singleton, logger: logger)
    }

    /// Publishes the service while it may be found, until the task is cancelled.
    private func announce(port: Int, _ host: ReceivingHost) async {
        while !Task.isCancelled {
            if host.visibility.isFound {
                await host.visibility.run(until: { _ in !host.visibility.isFound }) { await publish(port: port, host) }
            } else {
                host.report(EndpointStatus(port: port, "off: not visible", isReady: true))
                await host.visibility.wait { _ in host.visibility.isFound }
            }
        }
    }

    /// Publishes the service while discovery is on, and withdraws it when the task is cancelled.
    private func publish(port: Int, _ host: ReceivingHost) async {
        // Others can connect by address while the name is still being probed.
        host.report(EndpointStatus(port: port, "being published", isReady: true))
        await directory.announce(
            {
                var service = ServiceDescription(
                    type: WaftDialect.serviceType, instance: RandomInstance.name(), port: UInt16(clamping: port),
                    txt: WaftDialect.txt)
                // avahi-daemon's host name would show whose machine this is.
                service.host = .own
                return service
            }, for: host
        ) { state in
            switch state {
            case .beginning: return
            case .off: host.report(EndpointStatus(port: port, "off", isReady: true))
            case .published: host.report(EndpointStatus(port: port, "published", isReady: true))
            case .failed(let error):
                // The receiver stays reachable by address, and the user gets a warning.
                host.report(EndpointStatus(port: port, "failed: \(error)", isReady: true))
                logger.warning(
                    "not published: others reach this machine by address only", metadata: ["reason": "\(error)"])
            }
        }
    }
}

/// The name under which a receiver is published: random, new for each record (security rule 14).
enum RandomInstance {
    static func name() -> String {
        let letters = Array("abcdefghjkmnpqrstvwxyz23456789")
        return String((0..<12).map { _ in letters[Int.random(in: 0..<letters.count)] })
    }
}
