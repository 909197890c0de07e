import Contacts
import Discovery
import HTTPChannel
import LocalSendDialect
import Logging
import NIOPosix
import SecureTransport
import Settings
import Sharing
import Synchronization

// The listener is open while contacts or everyone may see this machine: a device can be a contact. Announcements are sent
// only while everyone may: they tell the name to the whole network.

extension LocalSendEndpoint {
    /// Listens while this machine is visible, until the task is cancelled. An error is reported, and ends nothing else.
    package func listen(_ host: ReceivingHost) async throws {
        let pins = PINGate(tries: LocalSendLimits.wrongPINs)
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let options = self.options
                guard options.isEnabled, host.visibility.visibility != .off else {
                    let reason = options.isEnabled ? "off: not visible" : "off: not enabled in config.yaml"
                    host.report(EndpointStatus(reason))
                    await sockets.turningAway(dialect) {
                        await host.visibility.wait {
                            self.options.isEnabled != options.isEnabled || options.isEnabled && $0 != .off
                        }
                    }
                    continue
                }
                let isOver: @Sendable (Visibility) -> Bool = { $0 == .off || self.options != options }
                do {
                    let listener = try await bind(options.port)
                    let server = LocalSendServer(serverHost(host), pins: pins)
                    group.addTask {
                        do { try await self.serve(listener, server, host) } catch { self.failed(error, host) }
                        await withTaskExecutorPreference(blocking) { await server.close() }
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
        logger.warning("no LocalSend here", metadata: ["reason": "\(error)"])
    }

    private func bind(_ port: Int) async throws -> SecureListener {
        let side = self.side
        func bind(_ port: Int, passed: Int32? = nil) async throws -> SecureListener {
            var configuration = SecureListener.Configuration(port: port, profile: .localsend) { try side.identity() }
            configuration.passed = passed
            return try await SecureListener.bind(configuration, group: .singleton, logger: logger)
        }
        if let passed = sockets[dialect] { return try await bind(0, passed: passed) }
        do {
            return try await bind(port)
        } catch let error as ListenerError where error.code == .addressInUse {
            return try await bind(0)
        }
    }

    private func serverHost(_ host: ReceivingHost) -> LocalSendServer.Host {
        let (visibility, side, settings, log) = (host.visibility, self.side, self.settings, logger)
        let refusals = Mutex(LogRateLimiter(interval: .seconds(10)))
        return LocalSendServer.Host(
            reception: host.reception, registry: host.registry,
            device: { peer in visibility.shows(itselfTo: peer) ? try? side.device() : nil },
            pin: { settings.current.localsend.pin },
            refused: { fault in
                // Strangers do not fill the log.
                guard refusals.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                log.notice("a question by LocalSend was refused", metadata: ["reason": "\(fault.message)"])
            },
            remarked: { offer, peer, remarks in
                for remark in remarks { host.remarked(offer, peer, remark.entry, remark.reason) }
            },
            threads: { host.threads(false) })
    }

    private func serve(_ listener: SecureListener, _ server: LocalSendServer, _ host: ReceivingHost) async throws {
        try await listener.run { channel, _ in
            try HTTPServer.configure(channel)
        } onConnection: { connection in
            await withTaskExecutorPreference(host.threads(connection.place?.isContact == true)) {
                await server.serve(
                    connection.output, visitor: Visitor(connection.peerID, at: connection.place?.address),
                    certificate: connection.certificateFingerprint?.text,
                    isIdle: { connection.place?.isIdle($0) })
            }
        }
    }

    // MARK: Announcing

    /// Announces this machine while everyone may see it, and answers the announcements of others.
    private func announce(port: Int, _ host: ReceivingHost) async {
        while !Task.isCancelled {
            let isAnnounced = host.visibility.visibility == .everyone && settings.current.discovery
            if isAnnounced {
                await host.visibility.run(
                    until: { $0 != .everyone || !self.settings.current.discovery }
                ) { await self.speak(port: port, host) }
            } else {
                let words = settings.current.discovery ? "silent: visible to contacts only" : "discovery is off"
                host.report(EndpointStatus(port: port, "\(words); port \(port)", isReady: true))
                await host.visibility.wait { $0 == .everyone && self.settings.current.discovery || $0 == .off }
                if host.visibility.visibility == .off { return }
            }
        }
    }

    private func speak(port: Int, _ host: ReceivingHost) async {
        do {
            let group = try self.group()
            let datagrams = group.datagrams()
            let news = group.newAddresses()
            let standing = await group.join()
            report(standing, port: port, host)
            let answers = LocalSendAnswers(self, port: UInt16(clamping: port))
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await answers.announce(in: group) }
                tasks.addTask { for await _ in news { await answers.announce(in: group) } }
                tasks.addTask {
                    for await standing in await group.watchStanding() { self.report(standing, port: port, host) }
                }
                tasks.addTask { await answers.answer(datagrams, in: group) }
                await tasks.waitForAll()
            }
            await group.leave()
        } catch {
            failed(error, host)
            await host.visibility.wait { $0 != .everyone }
        }
    }

    private func report(_ standing: MulticastStanding, port: Int, _ host: ReceivingHost) {
        if let obstacle = standing.obstacle, standing.interfaces.isEmpty {
            host.report(EndpointStatus(port: port, "not announced: \(obstacle)"))
        } else {
            let places = standing.interfaces.joined(separator: ", ")
            host.report(EndpointStatus(port: port, "announced on \(places); port \(port)", isReady: true))
        }
    }
}
