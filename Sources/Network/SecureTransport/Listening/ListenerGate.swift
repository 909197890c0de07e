internal import Glibc
internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
internal import NIOPosix
internal import Sharing
internal import SystemCalls

/// The entrance to a listener: makes the channels, counts them in `Admission`, and closes those that it selects.
final class ListenerGate: Sendable {
    /// Takes a connection whose peer is known, on its event loop.
    ///
    /// - Returns: whether the connection was taken; if not, it is closed.
    typealias Taker = @Sendable (_ channel: any Channel, _ peerID: PeerID, _ place: ConnectionSlot) throws -> Bool

    private struct State {
        var admission: Admission
        /// The numbers of the admitted channels, until they are closed.
        var admitted: [ObjectIdentifier: Admission.ID] = [:]
        /// The channels whose handshake is not done.
        var unfinished: [Admission.ID: any Channel] = [:]
        /// The channels whose handshake is done.
        var finished: [Admission.ID: any Channel] = [:]
        var isContact: @Sendable (PeerID) -> Bool = { _ in false }
        var taker: Taker?
        var isClosed = false
        var evictions = Tally()
        var displacements = Tally()
        var refusals = Tally()
        var exhaustions = Tally()
        var brokenPipelines = Tally()
    }

    /// How connections become those of known peers.
    enum Entry: Sendable {
        case tls(ListenerContext)
        /// Without encryption: each peer is unknown, and a different one each time.
        case plain(in: Dialect)
    }

    private let state: NIOLockedValueBox<State>
    private let entry: Entry
    private let limits: TransportLimits
    private let logger: Logger

    init(_ entry: Entry, limits: TransportLimits, logger: Logger) {
        self.entry = entry
        self.limits = limits
        self.logger = logger
        state = NIOLockedValueBox(State(admission: Admission(limits: limits)))
    }

    // MARK: Binding

    /// - Parameter host: nil for all addresses of both families, or of IPv4 if there is no IPv6.
    func bind(host: String?, port: Int, group: MultiThreadedEventLoopGroup) async throws(ListenerError) -> any Channel {
        do {
            guard let host else { return try await bindAll(port: port, group: group) }
            return try await bootstrap(group).bind(host: host, port: port).get()
        } catch {
            throw ListenerError(host: host, port: port, cause: error)
        }
    }

    /// - Parameter passed: an open listening socket, which stays the caller's.
    func bind(passed: Int32, group: MultiThreadedEventLoopGroup) async throws(ListenerError) -> any Channel {
        do {
            let copy = try FileDescriptor.copy(of: passed)
            let server = try await bootstrap(group).withBoundSocket(copy.release()).get()
            // The channel has set a backlog of its own.
            try systemCall { listen(passed, Int32(clamping: limits.backlog)) }
            return server
        } catch {
            throw ListenerError(host: nil, port: 0, cause: error)
        }
    }

    private func bindAll(port: Int, group: MultiThreadedEventLoopGroup) async throws -> any Channel {
        do {
            return try await bootstrap(group)
                .serverChannelOption(ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only), value: 0)
                .bind(to: SocketAddress(ipAddress: "::", port: port)).get()
        } catch let error as IOError where [EAFNOSUPPORT, EADDRNOTAVAIL, EPROTONOSUPPORT].contains(error.errnoCode) {
            return try await bootstrap(group).bind(to: SocketAddress(ipAddress: "0.0.0.0", port: port)).get()
        }
    }

    private func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: Int32(clamping: limits.backlog))
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.autoRead, value: false)
            .serverChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptPacer {
                            self.admit($0)
                        } onExhaustion: {
                            self.descriptorsHaveRunOut()
                        })
                }
            }
            .secureChildOptions()
            .childChannelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture { try self.number(of: channel) }.flatMap { id in
                    switch self.entry {
                    case .tls(let context):
                        // Counted already: the limit on unfinished connections includes those that wait for a context.
                        context.get(on: channel.eventLoop).flatMapThrowing { try self.secure(channel, id, $0) }
                    case .plain(let dialect):
                        channel.eventLoop.makeCompletedFuture { try self.take(plain: channel, id, dialect) }
                    }
                }
            }
    }

    // MARK: Opening and closing

    /// Passes the connections to `taker` from now on.
    /// - Parameter isContact: whether a peer is a contact, for which places are reserved; called on event loops.
    func open(isContact: @escaping @Sendable (PeerID) -> Bool, _ taker: @escaping Taker) {
        state.withLockedValue { state in
            precondition(state.taker == nil, "a listener runs once")
            state.taker = taker
            state.isContact = isContact
        }
    }

    /// Whether the gate admits no more connections.
    var isClosed: Bool { state.withLockedValue { $0.isClosed } }

    /// Closes unfinished connections, and admits no more.
    func close() {
        let unfinished = state.withLockedValue { state in
            state.isClosed = true
            defer { state.unfinished = [:] }
            return Array(state.unfinished.values)
        }
        for channel in unfinished { channel.close(promise: nil) }
    }

    // MARK: One connection

    /// Called in the order of arrival. In the order of the event loops, an earlier connection on a busy loop would take
    /// the place of a later one.
    private func admit(_ channel: any Channel) {
        let key = AddressKey(channel.remoteAddress)
        let admitted = state.withLockedValue { state -> (id: Admission.ID, evicted: (any Channel)?, count: Int?)? in
            guard !state.isClosed else { return nil }
            let (id, evicted) = state.admission.admit(from: key)
            state.unfinished[id] = channel
            state.admitted[ObjectIdentifier(channel)] = id
            guard let evicted else { return (id, nil, nil) }
            return (id, state.unfinished.removeValue(forKey: evicted), state.evictions.add())
        }
        guard let (id, evicted, count) = admitted else { return }
        evicted?.close(promise: nil)
        if let count {
            logger.notice("too many unfinished connections: \(count) closed in favour of newer ones")
        }
        let name = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { _ in self.forget(id, name) }
    }

    /// - Throws: `ChannelError` if the channel was not admitted.
    private func number(of channel: any Channel) throws -> Admission.ID {
        guard let id = state.withLockedValue({ $0.admitted[ObjectIdentifier(channel)] }) else {
            throw ChannelError.ioOnClosedChannel
        }
        return id
    }

    private func secure(_ channel: any Channel, _ id: Admission.ID, _ context: TLSContext) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(TLSHandler(context: context))
        try pipeline.addHandler(HandshakeGate { self.handshakeEnded($0, id, channel) })
    }

    private func take(plain channel: any Channel, _ id: Admission.ID, _ dialect: Dialect) throws {
        try channel.pipeline.syncOperations.addHandler(
            OpeningGate { self.finish(id, .unproven(dialect), channel) })
    }

    private func handshakeEnded(_ result: Result<PeerID, any Error>, _ id: Admission.ID, _ channel: any Channel) {
        switch result {
        case .failure(let error):
            logger.debug("refused a connection from \(describe(channel.remoteAddress)): \(error)")
        case .success(let peerID):
            finish(id, peerID, channel)
        }
    }

    private func finish(_ id: Admission.ID, _ peerID: PeerID, _ channel: any Channel) {
        let isContact = state.withLockedValue(\.isContact)(peerID)
        let finished = state.withLockedValue { state -> (isRefused: Bool, displaced: (any Channel)?, taker: Taker?) in
            state.unfinished[id] = nil
            let finish = state.admission.finish(id, as: peerID, isContact: isContact, at: .now)
            guard case .accepted(let displaced) = finish else { return (finish == .refused, nil, nil) }
            state.finished[id] = channel
            return (
                false, displaced.flatMap { state.finished.removeValue(forKey: $0) }, state.isClosed ? nil : state.taker
            )
        }
        if let displaced = finished.displaced {
            displaced.close(promise: nil)
            if let count = state.withLockedValue({ $0.displacements.add() }) {
                logger.notice("too many connections: \(count) of strangers closed in favour of newer ones")
            }
        }
        do {
            if finished.isRefused, let count = state.withLockedValue({ $0.refusals.add() }) {
                logger.notice("too many connections: \(count) closed, the last of them from \(peerID.short)")
            }
            let place = ConnectionSlot(
                address: AddressKey(channel.remoteAddress), isContact: isContact,
                note: { [state] isIdle in
                    state.withLockedValue { $0.admission.note(id, idleSince: isIdle ? .now : nil) }
                },
                noteEntry: { [state] in state.withLockedValue { $0.admission.enter(id) } })
            guard let taker = finished.taker, try taker(channel, peerID, place) else {
                return channel.close(promise: nil)
            }
        } catch {
            channel.close(promise: nil)
            if state.withLockedValue({ $0.brokenPipelines.add() }) != nil {
                logger.warning("closed a connection of \(peerID.short): its pipeline could not be made: \(error)")
            }
        }
    }

    private func forget(_ id: Admission.ID, _ channel: ObjectIdentifier) {
        state.withLockedValue { state in
            state.admitted[channel] = nil
            state.unfinished[id] = nil
            state.finished[id] = nil
            state.admission.remove(id)
        }
    }

    private func descriptorsHaveRunOut() {
        let (evicted, count) = state.withLockedValue { state in
            (
                (0..<TransportLimits.evictionsPerExhaustion).compactMap { _ in
                    state.admission.evictOldest().flatMap { state.unfinished.removeValue(forKey: $0) }
                },
                state.exhaustions.add()
            )
        }
        for channel in evicted { channel.close(promise: nil) }
        if count != nil { logger.warning("cannot accept connections for a moment: no descriptors are left") }
    }

    private func describe(_ address: SocketAddress?) -> String { address?.ipAddress ?? "an unknown address" }
}

/// Counts events that any peer can cause at any rate, and limits the log lines about them.
struct Tally {
    private static let interval = TimeAmount.minutes(1)

    private var count = 0
    private var nextReport = NIODeadline.distantPast

    /// Counts one event.
    ///
    /// - Returns: the number of events since the last report; nil if that was less than a minute ago.
    mutating func add(now: NIODeadline = .now()) -> Int? {
        count += 1
        guard now >= nextReport else { return nil }
        nextReport = now + Self.interval
        defer { count = 0 }
        return count
    }
}

/// Waits until a connection without TLS is open, reports it, and removes itself.
final class OpeningGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let onOpening: () -> Void

    /// - Parameter onOpening: called once, on the channel's event loop. Handlers that it adds see all bytes.
    init(onOpening: @escaping () -> Void) {
        self.onOpening = onOpening
    }

    func channelActive(context: ChannelHandlerContext) {
        onOpening()
        context.fireChannelActive()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }
}

/// Reports connections in the order of their arrival, before their own event loops handle them. When no descriptors are
/// left, it pauses before it accepts again: the waiting connections keep the socket readable, so the event loop would
/// spin.
final class AcceptPacer: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias OutboundIn = any Channel

    private static let pause = TimeAmount.milliseconds(100)

    private let onArrival: (any Channel) -> Void
    private let onExhaustion: () -> Void
    private var resumption: Scheduled<Void>?

    init(onArrival: @escaping (any Channel) -> Void, onExhaustion: @escaping () -> Void) {
        self.onArrival = onArrival
        self.onExhaustion = onExhaustion
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        onArrival(Self.unwrapInboundIn(data))
        context.fireChannelRead(data)
    }

    func read(context: ChannelHandlerContext) {
        // A read during the pause is made up for at its end.
        if resumption == nil { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        guard resumption == nil else { return }
        resumption = context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [weak self] in
            self?.resumption = nil
            context.read()
        }
        onExhaustion()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        resumption?.cancel()
    }
}
