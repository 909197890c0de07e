internal import NIOCore
internal import NIOPosix

/// The answer of a peer's port to an attempt to connect, without TLS and without a byte.
package enum PortAnswer: Sendable {
    /// A program listens. It may be too busy to serve anybody.
    case open
    /// The machine is there, and no program listens.
    case refused
    /// No answer in time, or no way to the machine.
    case silent
    /// This side cannot try.
    case unknown

    /// Addresses that are tried.
    private static let maximumAddresses = 4

    private enum Event: Sendable {
        case opened
        case failed(attempt: Int, DialError.Kind)
        case headStartElapsed
        case timeout
    }

    /// Connects to one of `addresses`, in the order of RFC 8305, and closes the connection at once.
    ///
    /// - Parameters:
    ///   - addresses: IP addresses, in order of preference; names are left out.
    ///   - limit: for all together.
    package static func of(
        _ addresses: [DialAddress], within limit: Duration, limits: TransportLimits = TransportLimits()
    ) async -> PortAnswer {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let (events, feed) = AsyncStream<Event>.makeStream()
        let timeout = loop.scheduleTask(in: TimeAmount(limit)) { feed.yield(.timeout) }
        defer { timeout.cancel() }
        var eyeballs = HappyEyeballs(namesBeingResolved: 0, limit: maximumAddresses)
        var kinds: [DialError.Kind] = []
        let candidates = addresses.compactMap { source in
            source.literal.map { HappyEyeballs.Candidate(address: $0, source: source) }
        }
        var actions = eyeballs.start(candidates)
        while true {
            for action in actions {
                switch action {
                case .connect(let attempt, let candidate):
                    connect(attempt, candidate.address, within: limit, loop, feed)
                case .startHeadStart:
                    loop.scheduleTask(in: TimeAmount(limits.headStart)) { feed.yield(.headStartElapsed) }
                case .giveUp: return PortAnswer(kinds)
                }
            }
            // A cancelled task gets no event.
            switch await events.first(where: { _ in true }) {
            case .opened: return .open
            case .failed(let attempt, let kind):
                kinds.append(kind)
                actions = eyeballs.failed(attempt: attempt)
            case .headStartElapsed: actions = eyeballs.headStartElapsed()
            case .timeout: return .silent
            case nil: return .unknown
            }
        }
    }

    private static func connect(
        _ attempt: Int, _ address: SocketAddress, within limit: Duration, _ loop: any EventLoop,
        _ feed: AsyncStream<Event>.Continuation
    ) {
        ClientBootstrap(group: loop).connectTimeout(TimeAmount(limit)).connect(to: address).whenComplete { result in
            switch result {
            case .success(let channel):
                channel.close(promise: nil)
                feed.yield(.opened)
            case .failure(let error): feed.yield(.failed(attempt: attempt, DialError.Kind(error)))
            }
        }
    }

    /// - Parameter failures: at each address.
    private init(_ failures: [DialError.Kind]) {
        let isHere = failures.contains { ![.refused, .noAnswer, .unreachable].contains($0) }
        self = failures.isEmpty || isHere ? .unknown : failures.allSatisfy { $0 == .refused } ? .refused : .silent
    }
}
