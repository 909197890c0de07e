import Contacts
import Discovery
import HTTPChannel
import Logging
import NIOPosix
import SecureTransport
import Settings
import Sharing
import Synchronization
import WebDialect

// The listener is open while a page is, at any visibility: the host has invited the guests.

extension WebEndpoint {
    /// Serves the page that the host wants, until the task is cancelled. The host gets an error, which ends nothing else.
    package func listen(_ host: ReceivingHost) async throws {
        guard let pages = host.pages else { return await host.visibility.wait { _ in false } }
        // For all pages: a new page gives no new tries.
        let pins = PINGate(tries: WebLimits.wrongPINs)
        let cycle = ListenerCycle(dialect: dialect, sockets: sockets, host: host, logger: logger)
        // A page that is opened again has the secret that guests know.
        var sessions: [Int: WebSession] = [:]
        while !Task.isCancelled {
            guard let page = pages.page else {
                host.report(EndpointStatus("off: no page is open; see: waft web"))
                sessions = [:]
                await sockets.turningAway(dialect) { await pages.wait { $0 != nil } }
                continue
            }
            let session = sessions[page.number] ?? WebSession(page)
            sessions[page.number] = session
            var fault: String?
            do {
                try await serve(page, session, pages, cycle, pins)
            } catch is CancellationError {
                // The receiver ends, and the page with it.
            } catch {
                cycle.failed(error)
                fault = "\(error)"
            }
            pages.closed(page, fault: fault)
            await pages.wait { $0?.number != page.number }
        }
    }

    private func serve(
        _ page: GuestPage, _ session: WebSession, _ pages: any PageHosting, _ cycle: ListenerCycle, _ pins: PINGate
    ) async throws {
        let isPlain = page.isPlain
        // Before the addresses: a change that comes meanwhile is not missed.
        let links = LinkChanges()
        let addresses = PageAddresses(denied: settings.current.denied)
        let identity =
            isPlain
            ? nil : try await withTaskExecutorPreference(blocking) { try side.identity(for: addresses.names) }
        let listener = try await cycle.bind(settings.current.web.port) { port in
            var configuration =
                identity.map { SecureListener.Configuration(port: port, identity: $0, profile: .web) }
                ?? SecureListener.Configuration(port: port, plainFor: dialect)
            configuration.limits = .forEntering(connectionsPerAddress: WebLimits.connectionsPerAddress)
            return configuration
        }
        let watch = OnceWatch()
        let server = WebServer(
            serverHost(cycle.host, port: listener.port, isPlain: isPlain) { event in
                watch.saw(event)
                if let step = GuestStep(event) { pages.saw(step, on: page) }
            }, pins: pins)
        await server.open(session)
        let tell = { @Sendable (shown: [String]) in
            let place = PageAddress(
                authorities: shown, path: session.path, pin: session.pin.text,
                fingerprint: identity?.certificateFingerprint.text)
            pages.opened(page, at: place)
            let address = "\(isPlain ? "http" : "https")://\(shown.first ?? "port \(listener.port)")"
            let reach = place.isLocal ? ", which no other machine can reach now" : ""
            cycle.host.report(
                EndpointStatus(port: listener.port, "a page is open at \(address)\(reach)", isReady: true))
        }
        let shown = addresses.shown(port: listener.port)
        tell(shown)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await run(listener, server, cycle) }
            group.addTask { await follow(links, port: listener.port, shown, tell) }
            if page.isOnce {
                group.addTask {
                    await watch.wait(for: server)
                    if !Task.isCancelled { pages.finished(page) }
                }
            }
            await pages.wait { $0?.number != page.number }
            await letFinish(server, page, pages)
            // In a task of its own: guests get the news also if this one is cancelled.
            await Task.detached { await server.close() }.value
            await listener.stopAccepting()
            // The last answers are on their way.
            try? await Task.sleep(for: .milliseconds(300))
            group.cancelAll()
        }
    }

    /// How long a network has to settle: its addresses come one by one.
    private static var settling: Duration { .seconds(1) }

    /// Tells of each change of the addresses that guests reach, until the task is cancelled.
    private func follow(
        _ links: LinkChanges?, port: Int, _ shown: [String], _ tell: @Sendable ([String]) -> Void
    ) async {
        guard let links else { return }
        var shown = shown
        for await _ in links.stream {
            do { try await Task.sleep(for: Self.settling) } catch { return }
            let now = PageAddresses(denied: settings.current.denied).shown(port: port)
            if now != shown { tell(now) }
            shown = now
        }
    }

    private func run(_ listener: SecureListener, _ server: WebServer, _ cycle: ListenerCycle) async {
        do {
            try await listener.run { channel, _ in
                try HTTPServer.configure(channel)
            } onConnection: { connection in
                await withTaskExecutorPreference(cycle.host.threads(false)) {
                    await server.serve(
                        connection.output, visitor: Visitor(of: connection), isIdle: { connection.place?.isIdle($0) },
                        enter: { connection.place?.enter() })
                }
            }
        } catch {
            cycle.failed(error)
        }
    }

    /// When the time of a page is over, the transfers that are under way go on, unless the host opens another page.
    private func letFinish(_ server: WebServer, _ page: GuestPage, _ pages: any PageHosting) async {
        guard let end = page.end, end <= .now else { return }
        while server.isBusy, pages.page == nil, !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(200))
        }
    }

    private func serverHost(
        _ host: ReceivingHost, port: Int, isPlain: Bool, observe: @escaping @Sendable (WebEvent) -> Void
    ) -> WebServer.Host {
        let (settings, log) = (self.settings, logger)
        let refusals = Mutex(LogRateLimiter(interval: .seconds(10)))
        return WebServer.Host(
            reception: host.reception, registry: host.registry, name: { host.name },
            // Asked for each request: a machine can get another address while a page is open.
            authorities: {
                PageAddresses(denied: settings.current.denied).authorities(port: port, isPlain: isPlain)
            },
            observe: observe,
            refused: { fault in
                // Strangers do not fill the log.
                guard refusals.withLock({ $0.mayBeSaid(now: .now) }) else { return }
                log.notice("a question of a browser was refused", metadata: ["reason": "\(fault.message)"])
            },
            remarked: { offer, peer, remarks in
                for remark in remarks { host.remarked(offer, peer, remark.entry, remark.reason) }
            },
            threads: { host.threads(false) })
    }
}

/// Notices when the one guest of a page is through: a transfer has ended, and the guest asks for nothing more.
private final class OnceWatch: Sendable {
    /// How long the guest has asked for nothing.
    private static let quiet: Duration = .seconds(3)

    private let hasEnded = Mutex(false)

    func saw(_ event: WebEvent) {
        switch event {
        case .ended, .fetched(_, _, _, isWhole: true): hasEnded.withLock { $0 = true }
        case .entered, .wrongPIN, .newPIN, .fetched: break
        }
    }

    func wait(for server: WebServer) async {
        while !Task.isCancelled {
            if hasEnded.withLock({ $0 }), !server.isBusy, server.quietTime >= Self.quiet { return }
            do { try await Task.sleep(for: .milliseconds(500)) } catch { return }
        }
    }
}

extension WebSession {
    fileprivate init(_ page: GuestPage) {
        self.init(takes: page.takes, isPlain: page.isPlain, isOnce: page.isOnce, items: page.items, end: page.end)
    }
}

extension GuestStep {
    /// - Returns: nil for the end of an offer, which is an event of the reception.
    fileprivate init?(_ event: WebEvent) {
        switch event {
        case .entered(_, let address, let browser): self = .entered(address: address, browser: browser)
        case .wrongPIN(let address): self = .wrongPIN(address: address)
        case .newPIN(let pin): self = .newPIN(pin)
        case .fetched(_, let address, let name, let isWhole):
            self = .fetched(address: address, name: name, isWhole: isWhole)
        case .ended: return nil
        }
    }
}
