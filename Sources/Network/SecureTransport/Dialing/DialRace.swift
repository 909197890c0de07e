internal import Logging
internal import NIOCore
internal import NIOPosix
internal import Sharing

/// The attempts of one dial: carries out the actions of `HappyEyeballs`, and declares the winner.
///
/// It lives on one event loop, as do its attempts. It ends exactly once: won, given up, out of time, or cancelled.
final class DialRace<Output: Sendable> {
    private struct Attempt {
        let candidate: HappyEyeballs.Candidate
        /// Nil until there is a socket.
        var channel: (any Channel)?
    }

    private let eventLoop: any EventLoop
    private let context: TLSContext
    private let pin: PeerPin
    private let logger: Logger
    private let configurePipeline: @Sendable (any Channel, PeerID) throws -> Output
    private let promise: EventLoopPromise<SecureConnection<Output>>

    private var eyeballs = HappyEyeballs(namesBeingResolved: 0, limit: 0)
    private var attempts: [Int: Attempt] = [:]
    private var namesBeingResolved: Set<DialAddress> = []
    private var failures: [DialError.Failure] = []
    private var headStart: Scheduled<Void>?
    private var deadline: Scheduled<Void>?
    private var isOver = false

    init(
        eventLoop: any EventLoop,
        context: TLSContext,
        pin: PeerPin,
        logger: Logger,
        configurePipeline: @escaping @Sendable (any Channel, PeerID) throws -> Output,
        promise: EventLoopPromise<SecureConnection<Output>>
    ) {
        self.eventLoop = eventLoop
        self.context = context
        self.pin = pin
        self.logger = logger
        self.configurePipeline = configurePipeline
        self.promise = promise
    }

    func start(_ addresses: [DialAddress]) {
        deadline = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(context.limits.dialDeadline)) {
            self.runOutOfTime()
        }
        let addresses = addresses.prefix(context.limits.addressesPerDial)
        var literals: [HappyEyeballs.Candidate] = []
        for address in addresses {
            if let literal = address.literal {
                literals.append(HappyEyeballs.Candidate(address: literal, source: address))
            } else {
                namesBeingResolved.insert(address)
            }
        }
        let names = namesBeingResolved
        eyeballs = HappyEyeballs(namesBeingResolved: names.count, limit: context.limits.addressesPerDial)
        perform(eyeballs.start(literals))
        for name in names { resolve(name) }
    }

    func cancel() { end(.failure(CancellationError())) }

    private func runOutOfTime() {
        for name in namesBeingResolved { failures.append(DialError.Failure(address: name, cause: NoAnswerError())) }
        for (_, attempt) in attempts.sorted(by: { $0.key < $1.key }) {
            failures.append(DialError.Failure(address: attempt.candidate.source, cause: NoAnswerError()))
        }
        end(.failure(DialError(failures: failures)))
    }

    /// Ends the race and closes running attempts.
    private func end(_ result: Result<SecureConnection<Output>, any Error>) {
        guard !isOver else { return }
        isOver = true
        deadline?.cancel()
        headStart?.cancel()
        let losers = attempts.values
        attempts = [:]
        for loser in losers { loser.channel?.close(promise: nil) }
        promise.completeWith(result)
    }

    private func perform(_ actions: [HappyEyeballs.Action]) {
        for action in actions where !isOver {
            switch action {
            case .connect(let attempt, let candidate): connect(attempt, candidate)
            case .startHeadStart: startHeadStart()
            case .giveUp: end(.failure(DialError(failures: failures)))
            }
        }
    }

    private func startHeadStart() {
        headStart?.cancel()
        headStart = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(context.limits.headStart)) {
            guard !self.isOver else { return }
            self.perform(self.eyeballs.headStartElapsed())
        }
    }

    // MARK: Names

    private func resolve(_ name: DialAddress) {
        // Blocks a thread for as long as the resolver takes. The call cannot be interrupted, so a late answer is
        // ignored.
        let addresses = resolverThreads.runIfActive(eventLoop: eventLoop) { try name.resolve() }
        addresses.assumeIsolated().whenComplete { result in
            self.namesBeingResolved.remove(name)
            guard !self.isOver else { return }
            let candidates: [HappyEyeballs.Candidate]
            switch result {
            case .success(let addresses):
                candidates = addresses.map { HappyEyeballs.Candidate(address: $0, source: name) }
                if addresses.isEmpty {
                    self.failures.append(
                        DialError.Failure(address: name, cause: NameResolutionError(reason: "it has no address"))
                    )
                }
            case .failure(let error):
                candidates = []
                self.failures.append(DialError.Failure(address: name, cause: error))
            }
            self.perform(self.eyeballs.resolved(candidates))
        }
    }

    // MARK: Attempts

    private func connect(_ id: Int, _ candidate: HappyEyeballs.Candidate) {
        attempts[id] = Attempt(candidate: candidate)
        let race = NIOLoopBound(self, eventLoop: eventLoop)
        let connected = ClientBootstrap(group: eventLoop)
            .secureOptions()
            .connectTimeout(TimeAmount(context.limits.dialDeadline))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try race.value.prepare(channel, for: id) }
            }
            .connect(to: candidate.address)
        // After the connection is made, the gate in its pipeline reports the result.
        connected.assumeIsolated().whenFailure { error in self.fail(id, error) }
    }

    private func prepare(_ channel: any Channel, for id: Int) throws {
        guard !isOver, attempts[id] != nil else { throw CancellationError() }
        attempts[id]?.channel = channel
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(TLSHandler(context: context, pin: pin))
        try pipeline.addHandler(
            HandshakeGate { result in
                switch result {
                case .success(let peerID): self.win(id, channel, peerID)
                case .failure(let error): self.fail(id, error)
                }
            }
        )
    }

    private func fail(_ id: Int, _ error: any Error) {
        guard !isOver, let attempt = attempts.removeValue(forKey: id) else { return }
        let failure = DialError.Failure(address: attempt.candidate.source, cause: error)
        // After a TLS error the handler sends the alert and then closes the channel itself.
        if !(error is TLSError) { attempt.channel?.close(promise: nil) }
        logger.debug("an attempt to connect failed: \(failure)")
        failures.append(failure)
        perform(eyeballs.failed(attempt: id))
    }

    private func win(_ id: Int, _ channel: any Channel, _ peerID: PeerID) {
        guard !isOver, attempts.removeValue(forKey: id) != nil else { return channel.close(promise: nil) }
        do {
            let output = try configurePipeline(channel, peerID)
            let tls = try? channel.tlsHandler()
            let connection = SecureConnection(
                channel: channel,
                output: output,
                peerID: peerID,
                certificateFingerprint: tls?.certificateFingerprint,
                applicationProtocol: tls?.applicationProtocol,
                remoteAddress: channel.remoteAddress
            )
            logger.debug("connected: \(Self.description(of: channel))")
            end(.success(connection))
        } catch {
            channel.close(promise: nil)
            end(.failure(error))
        }
    }
}

extension DialRace {
    /// The address of a connection and its cipher suite.
    private static func description(of channel: any Channel) -> String {
        let address = channel.remoteAddress.map { "\($0)" } ?? "an unknown address"
        guard let tls = try? channel.tlsHandler() else { return address }
        return "\(address), \(tls.cipherSuite ?? "an unknown cipher")"
    }
}

/// Own threads for the system's resolver, which can take half a minute: other work must not wait for it. They start
/// with the first name and end with the process.
private let resolverThreads: NIOThreadPool = {
    let threads = NIOThreadPool(numberOfThreads: 4)
    threads.start()
    return threads
}()
