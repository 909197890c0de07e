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
        // A connection on which a transfer was accepted outlives the visibility: nothing could resume the transfer.
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let options = self.options
                guard options.isEnabled, host.visibility.visibility == .everyone else {
                    let reason = options.isEnabled ? "off: not visible to everyone" : "off: not enabled in config.yaml"
                    host.report(EndpointStatus(reason))
                    await sockets.turningAway(dialect) {
                        await host.visibility.wait {
                            self.options.isEnabled != options.isEnabled || options.isEnabled && $0 == .everyone
                        }
                    }
                    continue
                }
                let isOver: @Sendable (Visibility) -> Bool = { $0 != .everyone || self.options != options }
                do {
                    let listener = try await bind()
                    group.addTask {
                        do { try await self.serve(listener, host) } catch { self.failed(error, host) }
                    }
                    await host.visibility.run(until: isOver) { await self.announce(port: listener.port, host) }
                    await listener.stopAccepting()
                } catch {
                    failed(error, host)
                    await host.visibility.wait(until: isOver)
                }
            }
            group.cancelAll()
        }
    }

    private func failed(_ error: any Error, _ host: ReceivingHost) {
        guard !(error is CancellationError) else { return }
        host.report(EndpointStatus("failed: \(error)"))
        logger.warning("no AirDrop here", metadata: ["reason": "\(error)"])
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
            await withTaskExecutorPreference(host.threads(connection.place?.isContact == true)) {
                await server.serve(
                    connection.output, visitor: Visitor(connection.peerID, at: connection.place?.address),
                    isIdle: { connection.place?.isIdle($0) })
            }
        }
    }

    private func bind() async throws -> SecureListener {
        func bind(_ port: Int, passed: Int32? = nil) async throws -> SecureListener {
            // New each time, as the name is: nothing is to be recognised by it (security rule 14).
            var configuration = SecureListener.Configuration(port: port, profile: .airdrop) {
                try Identity.make(kind: .rsa2048)
            }
            configuration.passed = passed
            return try await SecureListener.bind(configuration, group: .singleton, logger: logger)
        }
        if let passed = sockets[dialect] { return try await bind(0, passed: passed) }
        do {
            return try await bind(Int(AirDropDialect.defaultPort))
        } catch let error as ListenerError where error.code == .addressInUse {
            return try await bind(0)
        }
    }

    private func announce(port: Int, _ host: ReceivingHost) async {
        func report(_ words: String, isReady: Bool = true) {
            host.report(EndpointStatus(port: port, "\(words); port \(port)", isReady: isReady))
        }
        let instance = AirDropDialect.makeInstance()
        var service = ServiceDescription(
            type: AirDropDialect.serviceType, instance: instance, port: UInt16(clamping: port),
            txt: AirDropDialect.txt(options.flags))
        // Peers that know only Apple's radio links connect to link-local addresses only.
        service.hasOwnHost = true
        await directory.announce(service, for: host) { state in
            switch state {
            case .off: report("not published: discovery is off")
            case .beginning: report("being published", isReady: false)
            case .published:
                report("published as \(instance)")
                logger.info("reachable by AirDrop", metadata: ["port": "\(port)"])
            case .failed(let error):
                report("not published: \(error)")
                logger.warning("not published for AirDrop", metadata: ["reason": "\(error)"])
            }
        }
    }
}
