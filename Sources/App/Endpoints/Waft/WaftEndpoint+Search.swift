import Discovery
import HTTPChannel
import SecureTransport
import Settings
import Sharing
import WaftDialect

extension WaftEndpoint {
    /// Timeout for a peer to send its card. A peer that closes the connection at once may be full for a moment, and is
    /// asked up to `cardAttempts` times.
    private static let cardTimeout: Duration = .seconds(5)
    private static let cardAttempts = 4
    /// Services that wait to be asked again: anybody on the link can announce a thousand that do not answer, at any address.
    private static let waitingQuestions = 64

    /// A service that is asked for its card: again, with longer and longer pauses, until it answers or is gone.
    private struct Question: Sendable {
        var instance: String
        var target: PeerTarget
        var pause = Duration.seconds(1)

        static let longestPause = Duration.seconds(128)

        var next: Question {
            Question(instance: instance, target: target, pause: min(pause * 2, Self.longestPause))
        }
    }

    private enum Step: Sendable {
        case browse(BrowseEvent)
        case ask(Question)
        case askAgain(Question)
        /// `isLast`: the answer would be the same again.
        case asked(Question, FoundPeer?, isLast: Bool)
    }

    package func search(_ found: AsyncStream<PeerEvent>.Continuation) async {
        let type = WaftDialect.serviceType
        let domains = settings.current.askedDomains.map { DomainBrowser(domains: $0) }
        let sources = [(try? directory.current?.get())?.browse(type: type), domains?.browse(type: type)]
            .compactMap(\.self)
        guard !sources.isEmpty else { return }
        let (steps, feed) = AsyncStream<Step>.makeStream()
        await withDiscardingTaskGroup { group in
            for source in sources {
                group.addTask {
                    for await event in source { feed.yield(.browse(event)) }
                }
            }
            var book = WaftSightings()
            var waiting = 0
            for await step in steps {
                switch step {
                case .browse(.updated(let service)):
                    guard let target = book.target(for: service) else { continue }
                    feed.yield(.ask(Question(instance: service.instance, target: target)))
                case .browse(.removed(let instance)):
                    if let id = book.remove(instance) { found.yield(.gone(id)) }
                case .browse(.failed(let error)):
                    found.yield(.trouble(error.description))
                case .browse(.allForNow):
                    continue
                case .askAgain(let question):
                    waiting -= 1
                    feed.yield(.ask(question))
                case .ask(let question):
                    guard book.expects(question.target, question.instance) else { continue }
                    group.addTask {
                        let (peer, isLast) = await ask(question.target)
                        feed.yield(.asked(question, peer, isLast: isLast))
                    }
                case .asked(let question, let peer, let isLast):
                    let isOwn = peer?.id == identity.peerID
                    if let peer, !isOwn, book.enter(peer, question.target, question.instance) {
                        found.yield(.found(peer))
                    }
                    guard !isLast, !isOwn, waiting < Self.waitingQuestions else { continue }
                    waiting += 1
                    // The machine may have been asleep, or its network busy: its record does not change when it can answer.
                    group.addTask {
                        try? await Task.sleep(for: question.pause * Double.random(in: 0.75...1.25))
                        feed.yield(.askAgain(question.next))
                    }
                }
                if Task.isCancelled { break }
            }
            group.cancelAll()
        }
    }

    /// - Returns: the peer, nil if no Waft answers there; and whether a later answer would be the same.
    private func ask(_ target: PeerTarget) async -> (peer: FoundPeer?, isLast: Bool) {
        var found: FoundPeer?
        var pause = Duration.milliseconds(250)
        for _ in 0..<Self.cardAttempts {
            guard let connection = try? await connect(to: target, within: Self.cardTimeout) else {
                return (found, isLast: false)
            }
            found = FoundPeer(id: connection.peer, card: nil, target: target.expecting(connection.peer))
            do {
                found?.card = try await HTTPClient.run(connection.http) { http in
                    try await WaftClient(http).card(timeout: Self.cardTimeout)
                }
                return (found, isLast: true)
            } catch let fault as HTTPError where fault == .closed {
                do {
                    try await Task.sleep(for: pause * Double.random(in: 0.75...1.25))
                } catch {
                    return (found, isLast: true)
                }
                pause *= 2
            } catch {
                return (found, isLast: (error as? TransferError)?.code == .notAccepted)
            }
        }
        return (found, isLast: false)
    }
}

/// Which service belongs to which peer, while looking.
private struct WaftSightings {
    private var targets: [String: PeerTarget] = [:]
    private var peers: [String: FoundPeer] = [:]

    /// - Returns: the target to ask; nil if it has been asked already.
    mutating func target(for service: DiscoveredService) -> PeerTarget? {
        let addresses = service.addresses.map { DialAddress(host: $0.host, port: Int($0.port), scopeID: $0.scope) }
        let target = PeerTarget(.waft, addresses: addresses)
        guard targets.updateValue(target, forKey: service.instance) != target else { return nil }
        return target
    }

    /// Whether the service is still there, at this target.
    func expects(_ target: PeerTarget, _ instance: String) -> Bool { targets[instance] == target }

    /// - Parameter target: the one that was asked.
    /// - Returns: whether this is news.
    mutating func enter(_ peer: FoundPeer, _ target: PeerTarget, _ instance: String) -> Bool {
        // The service went while it was being asked, or it has other addresses by now and was found there.
        guard let present = targets[instance], present == target || peers[instance] == nil else { return false }
        let before = peers.updateValue(peer, forKey: instance)
        return before?.id != peer.id || before?.card != peer.card || before?.target != peer.target
    }

    /// - Returns: the peer that is no longer there under any instance name.
    mutating func remove(_ instance: String) -> PeerID? {
        targets[instance] = nil
        guard let peer = peers.removeValue(forKey: instance) else { return nil }
        return peers.values.contains { $0.id == peer.id } ? nil : peer.id
    }
}
