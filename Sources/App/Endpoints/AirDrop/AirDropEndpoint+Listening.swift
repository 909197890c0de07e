import AirDropDialect
import Contacts
import Discovery
import HTTPChannel
import Logging
import NIOPosix
import SecureTransport
import Settings
import Sharing
import Synchronization

// The listener is open while this machine is visible to everyone: AirDrop proves no key.

extension AirDropEndpoint {
    /// Listens while this machine is visible to everyone, until the task is cancelled. An error is reported, and ends
    /// nothing else.
    package func listen(_ host: ReceivingHost) async throws {
        async let onRadio: Void = listenOnRadio(host) { try await self.serve($0, host) }
        let cycle = ListenerCycle(dialect: dialect, sockets: sockets, host: host, logger: logger)
        await cycle.run(
            { self.options.isEnabled ? self.options : nil }, isVisible: { $0 == .everyone },
            hidden: "not visible to everyone"
        ) { _ in
            try await cycle.bind(Int(AirDropDialect.defaultPort)) { configuration(port: $0) }
        } serve: {
            try await self.serve($0, host)
        } announce: {
            await self.announce(port: $0, host)
        }
        await onRadio
    }

    /// - Parameter host: as in `SecureListener.Configuration`.
    func configuration(host: String? = nil, port: Int) -> SecureListener.Configuration {
        var configuration = SecureListener.Configuration(host: host, port: port, profile: .airdrop) { [side] in
            try side.listenerKey()
        }
        // A phone listens in bursts. Between two of them the last answer may have to be sent again; a reset would take it back.
        configuration.limits.handshakeDeadline = .seconds(30)
        configuration.limits.closeDeadline = .seconds(10)
        return configuration
    }

    private func serve(_ listener: SecureListener, _ host: ReceivingHost) async throws {
        let side = self.side
        let visibility = host.visibility
        let log = logger
        let refusals = Mutex(LogRateLimiter(interval: .seconds(10)))
        let server = AirDropServer(
            reception: host.reception, registry: host.registry,
            refused: { fault in
                // Strangers do not fill the log.
                guard refusals.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                log.notice("a question by AirDrop was refused", metadata: ["reason": "\(fault.message)"])
            },
            remarked: { offer, peer, remarks in
                for remark in remarks { host.remarked(offer, peer, remark.entry, remark.reason) }
            },
            card: { visibility.visibility == .everyone ? side.card : nil })
        try await listener.run { channel, _ in
            try HTTPServer.configure(channel)
        } onConnection: { connection in
            await connection.channel.onRadioToo {
                await withTaskExecutorPreference(host.threads(connection.place?.isContact == true)) {
                    await server.serve(
                        connection.output, visitor: Visitor(of: connection), isIdle: { connection.place?.isIdle($0) })
                }
            }
        }
    }

    private func announce(port: Int, _ host: ReceivingHost) async {
        func report(_ words: String, isReady: Bool = true) {
            host.report(EndpointStatus(port: port, "\(words); port \(port)", isReady: isReady))
        }
        await directory.announce(
            {
                var service = ServiceDescription(
                    type: AirDropDialect.serviceType, instance: AirDropDialect.makeInstance(),
                    port: UInt16(clamping: port), txt: AirDropDialect.txt(options.flags))
                // Peers that know only Apple's radio links connect to link-local addresses only.
                service.host = .ownOnLink
                return service
            }, for: host
        ) { state in
            switch state {
            case .off: report("not published: discovery is off")
            case .beginning: report("being published", isReady: false)
            case .published(let instance):
                report("published as \(instance)")
                logger.info("reachable by AirDrop", metadata: ["port": "\(port)"])
            case .failed(let error):
                report("not published: \(error)")
                logger.warning("not published for AirDrop", metadata: ["reason": "\(error)"])
            }
        }
    }
}
