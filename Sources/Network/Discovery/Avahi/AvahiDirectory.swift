internal import CAvahi
internal import Logging
internal import Synchronization

/// A directory that uses one of the two Avahi libraries. It lives on an ``AvahiLoop``.
///
/// It has a responder while it has a user. When the responder fails, the directory makes another one, and announces and
/// looks for everything again. Only browsers are notified of the failure.
actor AvahiDirectory: ServiceDirectory {
    enum Backend: String, Sendable {
        /// avahi-daemon, over D-Bus.
        case daemon
        /// avahi-core, within this process.
        case embedded
    }

    let backend: Backend
    private(set) var denied: InterfacePatterns
    let logger: Logger
    let loop: AvahiLoop

    /// Nil while the directory has no user, and between the loss of a responder and the next try.
    var responder: (any Responder)?
    /// The interfaces that an embedded responder was made for.
    private var servedInterfaces: Set<String> = []
    /// The last state that the responder reported; nil before the first.
    private(set) var state: ResponderState?
    private(set) var network: InterfaceMonitor?
    private var reconnection: Task<Void, Never>?
    private var failedConnections = 0

    var publications: [UInt64: AnnouncedService] = [:]
    var browses: [ObjectIdentifier: ActiveBrowse] = [:]
    var liveResolvers = 0
    private var observations: [ObjectIdentifier: Observation] = [:]
    private var lastIdentifier: UInt64 = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Throws: ``DiscoveryError`` `.noResources`.
    init(backend: Backend, denied: InterfacePatterns, logger: Logger) throws(DiscoveryError) {
        self.backend = backend
        self.denied = denied
        self.logger = logger
        // The kernel shows 15 bytes of a thread's name.
        loop = try AvahiLoop(name: backend == .daemon ? "waft-avahi" : "waft-mdns")
    }

    func makeIdentifier() -> UInt64 {
        lastIdentifier += 1
        return lastIdentifier
    }

    /// Whether the responder can announce a service now.
    var canAnnounce: Bool { state == .registering || state == .running }
}

// MARK: - The responder's life

extension AvahiDirectory {
    /// Connects at the first use.
    func use() {
        if responder == nil, reconnection == nil { connect() }
    }

    /// Drops the responder after the last use.
    func releaseIfUnused() {
        guard publications.isEmpty, browses.isEmpty, observations.isEmpty else { return }
        reconnection?.cancel()
        reconnection = nil
        failedConnections = 0
        responder = nil
        network = nil
        state = nil
    }

    private func connect() {
        if network == nil {
            network = InterfaceMonitor(loop: loop) { [unowned self] in assumeIsolated { $0.interfacesChanged() } }
        }
        do {
            responder = try makeResponder()
        } catch {
            lost(error)
        }
    }

    private func makeResponder() throws(DiscoveryError) -> any Responder {
        // Unowned: the responder is dropped before the directory, and delivers nothing after that.
        let onState: (ResponderState) -> Void = { [unowned self] state in
            assumeIsolated { $0.responderChanged(to: state) }
        }
        switch backend {
        case .daemon: return try DaemonResponder(loop: loop, onState: onState)
        case .embedded:
            let names = network?.snapshot.interfaces.values.map(\.name) ?? []
            servedInterfaces = Set(names.filter { !denied.contains($0) })
            return try EmbeddedResponder(
                loop: loop,
                allowed: servedInterfaces,
                network: network?.snapshot ?? NetworkSnapshot(),
                onState: onState
            )
        }
    }

    private func responderChanged(to new: ResponderState) {
        let old = state
        state = new
        logger.debug("responder changed", metadata: ["backend": "\(backend)", "state": "\(new)"])
        switch new {
        case .connecting:
            refuse(DiscoveryError(.responderUnavailable, cause: "avahi-daemon does not run"))
        case .registering:
            // The host name is new, or it changed: announcements under the old one are void.
            failedConnections = 0
            if old == .running { withdrawAll() }
            announceAll()
        case .running:
            failedConnections = 0
            announceAll()
            establishAll()
        case .collision:
            withdrawAll()
            responder?.chooseAnotherHostName()
        case .failed(let cause):
            lost(DiscoveryError(.responderUnavailable, cause: cause))
            return
        }
        if new.isUsable { startBrowsers() }
        // One of these calls may have found that the responder is gone.
        guard state == new else { return }
        if old?.isUsable != new.isUsable { observations.values.forEach { $0.tell(new.isUsable) } }
    }

    /// Drops the responder and tries again: at once if it had worked, else after growing pauses.
    func lost(_ error: DiscoveryError) {
        logger.debug("responder lost", metadata: ["backend": "\(backend)", "error": "\(error)"])
        dropResponder()
        observations.values.forEach { $0.tell(false) }
        refuse(error)
        // Refusing may have ended the last use.
        guard !publications.isEmpty || !browses.isEmpty || !observations.isEmpty else { return }
        let pause = Self.pause(afterFailures: failedConnections)
        failedConnections += 1
        reconnect(after: pause)
    }

    private func reconnect(after pause: Duration) {
        reconnection = Task { [weak self] in
            try? await Task.sleep(for: pause)
            guard !Task.isCancelled else { return }
            await self?.reconnect()
        }
    }

    private func reconnect() {
        reconnection = nil
        use()
    }

    /// 0, 0.1, 0.2, 0.4 s … and at most 10 s: a restarted bus is found again quickly, and a missing one costs almost
    /// nothing.
    static func pause(afterFailures count: Int) -> Duration {
        count == 0 ? .zero : min(.milliseconds(100 * (1 << min(count - 1, 7))), .seconds(10))
    }

    /// Reports to every waiting caller that there is no responder.
    private func refuse(_ error: DiscoveryError) {
        refusePublications(error)
        browses.values.forEach { $0.mailbox.post(.failed(error)) }
        releaseIfUnused()
    }

    private func interfacesChanged() {
        guard let network else { return }
        let usable = network.snapshot.usableInterfaces.map(\.name).filter { !denied.contains($0) }
        // avahi-core takes names, not patterns, and takes them only once. Interfaces of containers, which come and go,
        // are not allowed ones; other new interfaces are so rare that a new responder does no harm.
        if backend == .embedded, responder != nil, !servedInterfaces.isSuperset(of: usable) {
            dropResponder()
            connect()
        } else {
            responder?.networkChanged(to: network.snapshot)
            // avahi-core (0.8) never ends an announcement whose probes were under way on an interface that went.
            publications.values.forEach { $0.withdrawUnestablished() }
            announceAll()
            establishAll()
        }
    }
}

// MARK: - Denied interfaces

extension AvahiDirectory {
    func deny(_ interfaces: InterfacePatterns) {
        guard denied != interfaces else { return }
        denied = interfaces
        guard responder != nil else { return }
        dropResponder()
        // Avahi sends no farewell on an interface if the same record is announced on another one meanwhile.
        reconnect(after: .milliseconds(500))
    }

    private func dropResponder() {
        withdrawAll()
        stopBrowsers()
        responder = nil
        state = nil
    }
}

// MARK: - Availability

extension AvahiDirectory: ObservableDirectory {
    nonisolated func availability() -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self, bufferingPolicy: .bufferingNewest(1))
        let observation = Observation(continuation)
        continuation.onTermination = { _ in
            observation.isEnded.store(true, ordering: .relaxed)
            Task { await self.endObservation(observation) }
        }
        Task { await beginObservation(observation) }
        return stream
    }

    private func beginObservation(_ observation: Observation) {
        // The observation may have ended before it began; `endObservation` has run then.
        guard !observation.isEnded.load(ordering: .relaxed) else { return }
        observations[ObjectIdentifier(observation)] = observation
        if state != nil || reconnection != nil { observation.tell(state?.isUsable == true) }
        use()
    }

    private func endObservation(_ observation: Observation) {
        guard observations.removeValue(forKey: ObjectIdentifier(observation)) != nil else { return }
        releaseIfUnused()
    }
}

private final class Observation: Sendable {
    let isEnded = Atomic(false)
    private let continuation: AsyncStream<Bool>.Continuation

    init(_ continuation: AsyncStream<Bool>.Continuation) {
        self.continuation = continuation
    }

    func tell(_ isAvailable: Bool) {
        continuation.yield(isAvailable)
    }
}
