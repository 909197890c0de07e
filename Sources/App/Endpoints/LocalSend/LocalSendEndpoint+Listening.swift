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
        let (pins, side) = (PINGate(tries: LocalSendLimits.wrongPINs), self.side)
        let cycle = ListenerCycle(dialect: dialect, sockets: sockets, host: host, logger: logger)
        await cycle.run(
            { self.options.isEnabled ? self.options : nil }, isVisible: { $0 != .off }, hidden: "not visible"
        ) { options in
            try await cycle.bind(options.port, .localsend) { try side.loadIdentity() }
        } serve: { listener in
            let server = LocalSendServer(serverHost(host), pins: pins)
            let fault = await self.serve(listener, server, host)
            await withTaskExecutorPreference(blocking) { await server.close() }
            if let fault { throw fault }
        } announce: {
            await self.announce(port: $0, cycle)
        }
    }

    private func serverHost(_ host: ReceivingHost) -> LocalSendServer.Host {
        let (visibility, side, settings, log) = (host.visibility, self.side, self.settings, logger)
        let refusals = Mutex(LogRateLimiter(interval: .seconds(10)))
        return LocalSendServer.Host(
            reception: host.reception, registry: host.registry,
            device: { peer in visibility.shows(itselfTo: peer) ? try? await side.device() : nil },
            pin: { settings.current.localsend.pin },
            refused: { fault in
                // Strangers do not fill the log.
                guard refusals.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                log.notice("a question by LocalSend was refused", metadata: ["reason": "\(fault.message)"])
            },
            remarked: { offer, peer, remarks in
                for remark in remarks { host.remarked(offer, peer, remark.entry, remark.reason) }
            },
            met: { self.note($0, visitor: $1) }, ended: { await tellSender(of: $0) }, threads: { host.threads(false) })
    }

    /// Notes where a contact takes connections: this machine is silent while only contacts may see it, and does not hear
    /// of them otherwise.
    func note(_ device: LocalSendDevice, visitor: Visitor) {
        guard visitor.peer.unprovenBy == nil, device.scheme == .https, let port = device.port, port > 0,
            let host = visitor.origin.host
        else { return }
        contacts?.note(host, port, of: visitor.peer, logger)
    }

    /// - Returns: the error that ended it.
    private func serve(
        _ listener: SecureListener, _ server: LocalSendServer, _ host: ReceivingHost
    ) async -> (any Error)? {
        do {
            try await listener.run { channel, _ in
                try HTTPServer.configure(channel)
            } onConnection: { connection in
                await withTaskExecutorPreference(host.threads(connection.place?.isContact == true)) {
                    await server.serve(
                        connection.output, visitor: Visitor(of: connection), isIdle: { connection.place?.isIdle($0) })
                }
            }
            return nil
        } catch {
            return error
        }
    }

    /// Tells a sender that its session is over: otherwise it would learn it file by file.
    private func tellSender(of session: EndedSession) async {
        guard let host = session.visitor.origin.host,
            var target = target(of: session.sender, at: DialAddress(host: host, port: 0))
        else { return }
        target = target.expecting(session.visitor.peer)
        // Also when the receiver is being stopped, and this task is cancelled.
        await Task.detached { [target] in
            guard let connection = try? await open(target, within: LocalSendLimits.farewell) else { return }
            _ = try? await HTTPClient.run(connection.http) { http in
                try await LocalSendClient(http).cancel(session.id, timeout: LocalSendLimits.farewell)
            }
        }.value
    }

    // MARK: Announcing

    /// Announces this machine while everyone may see it, and answers the announcements of others.
    private func announce(port: Int, _ cycle: ListenerCycle) async {
        while !Task.isCancelled {
            let isAnnounced = cycle.host.visibility.visibility == .everyone && settings.current.discovery
            if isAnnounced {
                await cycle.host.visibility.run(
                    until: { $0 != .everyone || !self.settings.current.discovery }
                ) { await self.speak(port: port, cycle) }
            } else {
                let words = settings.current.discovery ? "silent: visible to contacts only" : "discovery is off"
                cycle.host.report(EndpointStatus(port: port, "\(words); port \(port)", isReady: true))
                await cycle.host.visibility.wait { $0 == .everyone && self.settings.current.discovery || $0 == .off }
                if cycle.host.visibility.visibility == .off { return }
            }
        }
    }

    private func speak(port: Int, _ cycle: ListenerCycle) async {
        do {
            let group = try self.group()
            let datagrams = group.datagrams()
            let news = group.newAddresses()
            let standing = await group.join()
            report(standing, port: port, cycle)
            let answers = LocalSendAnswers(self, port: UInt16(clamping: port))
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await answers.announce(in: group) }
                tasks.addTask { for await _ in news { await answers.announce(in: group) } }
                tasks.addTask {
                    let host = cycle.host
                    var name = host.name
                    while !Task.isCancelled {
                        await host.visibility.wait { [name] _ in host.name != name }
                        name = host.name
                        await answers.announce(in: group)
                    }
                }
                tasks.addTask {
                    for await standing in await group.watchStanding() { self.report(standing, port: port, cycle) }
                }
                tasks.addTask { await answers.answer(datagrams, in: group) }
                await tasks.waitForAll()
            }
            await group.leave()
        } catch {
            cycle.failed(error)
            await cycle.host.visibility.wait { $0 != .everyone }
        }
    }

    private func report(_ standing: MulticastState, port: Int, _ cycle: ListenerCycle) {
        if let obstacle = standing.obstacle, standing.interfaces.isEmpty {
            cycle.host.report(EndpointStatus(port: port, "not announced: \(obstacle)"))
        } else {
            let places = standing.interfaces.joined(separator: ", ")
            cycle.host.report(EndpointStatus(port: port, "announced on \(places); port \(port)", isReady: true))
        }
    }
}
