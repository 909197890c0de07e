import Discovery
import HTTPChannel
import SecureTransport
import Settings
import Sharing
import Streams
import WaftDialect

extension WaftEndpoint {
    /// Timeout for a peer to send its card. A peer that closes the connection at once may be full for a moment, and is
    /// asked up to `cardAttempts` times.
    private static let cardTimeout: Duration = .seconds(5)
    private static let cardAttempts = 4
    /// Services that wait to be asked again: anybody on the link can announce a thousand that do not answer, at any address.
    private static let waitingQuestions = 64
    /// Questions to known peers that are repeated at the same time: a peer of an earlier version does not announce itself
    /// anew when it changes, and a change of the permissions may have been missed.
    private static let repeatedQuestions = 8
    /// Peers that are tried at the same time while a person looks at the list, and the time of each for its answer.
    private static let triedPeers = 64
    private static let tryTimeout: Duration = .milliseconds(2_500)
    /// How long a peer whose record went may take to answer under another.
    private static let returning: Duration = .seconds(2)

    /// A service that is asked for its card: again, with longer and longer pauses, until it answers or is gone.
    private struct Question: Sendable {
        var instance: String
        var target: PeerTarget
        var pause = Duration.seconds(1)
        /// Whether the peer has answered before, and may have changed.
        var isRepeated = false

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
        /// The peer has not come back.
        case left(PeerID)
        /// Time to repeat questions.
        case round
        /// Time to connect to the peers in view.
        case trial
        case tried(PeerTarget, PortAnswer)
    }

    package func search(_ found: AsyncStream<PeerEvent>.Continuation, isWatched: Bool) async {
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
            group.addTask {
                while (try? await Task.sleep(for: repetition)) != nil { feed.yield(.round) }
            }
            if isWatched {
                group.addTask {
                    while !Task.isCancelled {
                        await Patience.wait(for: trialPause)
                        feed.yield(.trial)
                    }
                }
            }
            var book = WaftSightings(own: identity.peerID)
            var (waiting, repeated, tried) = (0, 0, 0)
            func tell(_ events: [PeerEvent]) { events.forEach { found.yield($0) } }
            for await step in steps {
                switch step {
                case .browse(.updated(let service)):
                    guard let target = book.target(for: service) else { continue }
                    feed.yield(.ask(Question(instance: service.instance, target: target)))
                case .browse(.removed(let instance)):
                    let (news, leaving) = book.remove(instance)
                    tell(news)
                    guard let leaving else { continue }
                    group.addTask {
                        try? await Task.sleep(for: Self.returning)
                        feed.yield(.left(leaving))
                    }
                case .browse(.failed(let error)):
                    found.yield(.trouble(error.description))
                case .browse(.allForNow):
                    continue
                case .left(let id):
                    tell(book.leave(id))
                case .round:
                    for (instance, target) in book.due(atMost: Self.repeatedQuestions - repeated) {
                        repeated += 1
                        feed.yield(.ask(Question(instance: instance, target: target, isRepeated: true)))
                    }
                case .trial:
                    for target in book.peersToTry(atMost: Self.triedPeers - tried) {
                        tried += 1
                        group.addTask {
                            feed.yield(.tried(target, await PortAnswer.of(target.addresses, within: Self.tryTimeout)))
                        }
                    }
                case .tried(let target, let answer):
                    tried -= 1
                    tell(book.note(answer, of: target))
                case .askAgain(let question):
                    waiting -= 1
                    feed.yield(.ask(question))
                case .ask(let question):
                    guard book.expects(question.target, question.instance) else {
                        if question.isRepeated { repeated -= 1 }
                        continue
                    }
                    group.addTask {
                        let (peer, isLast) = await ask(question.target)
                        feed.yield(.asked(question, peer, isLast: isLast))
                    }
                case .asked(let question, let peer, let isLast):
                    if question.isRepeated { repeated -= 1 }
                    let isOver =
                        isLast || question.isRepeated || peer?.id == identity.peerID || waiting >= Self.waitingQuestions
                    tell(book.enter(peer, question.target, question.instance, isSure: isLast, isOver: isOver))
                    guard !isOver else { continue }
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
