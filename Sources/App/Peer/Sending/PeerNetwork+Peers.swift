import Discovery
import HTTPChannel
import SecureTransport
import Sharing
import WaftDialect

extension PeerNetwork {
    /// Timeout for a peer to send its card. A peer that closes the connection at once may be full for a moment, and is
    /// asked up to `cardAttempts` times.
    private static let cardPatience: Duration = .seconds(5)
    private static let cardAttempts = 4

    /// Peers as they are found: each service seen by mDNS is asked over TLS for its card.
    ///
    /// Never reports this peer itself, and reports a peer again only when the facts about it changed.
    /// - Parameter limit: how long to look; nil: until the stream is dropped.
    package func peers(for limit: Duration?) -> AsyncStream<PeerEvent> {
        guard let directory else {
            return AsyncStream { continuation in
                continuation.yield(.trouble("discovery is off: peers are reached by address only"))
                continuation.finish()
            }
        }
        return AsyncStream { continuation in
            let task = Task {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        await withDiscardingTaskGroup { both in
                            both.addTask { await look(in: directory, continuation) }
                            both.addTask { await lookForAirDrop(in: directory, continuation) }
                        }
                    }
                    if let limit {
                        group.addTask { try? await Task.sleep(for: limit) }
                        await group.next()
                        group.cancelAll()
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private enum Step: Sendable {
        case browse(BrowseEvent)
        case asked(instance: String, FoundPeer?)
    }

    private func look(in directory: any ServiceDirectory, _ found: AsyncStream<PeerEvent>.Continuation) async {
        let (steps, feed) = AsyncStream<Step>.makeStream()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in directory.browse(type: WaftDialect.serviceType) { feed.yield(.browse(event)) }
                feed.finish()
            }
            var book = PeerBook()
            for await step in steps {
                switch step {
                case .browse(.updated(let service)):
                    guard let target = book.target(for: service) else { continue }
                    group.addTask { feed.yield(.asked(instance: service.instance, await ask(target))) }
                case .browse(.removed(let instance)):
                    if let id = book.remove(instance) { found.yield(.gone(id)) }
                case .browse(.failed(let error)):
                    found.yield(.trouble(error.description))
                case .browse(.allForNow):
                    continue
                case .asked(let instance, let peer):
                    if let peer, peer.id != identity.peerID, book.enter(peer, instance) { found.yield(.found(peer)) }
                }
                if Task.isCancelled { break }
            }
            group.cancelAll()
        }
    }

    /// - Returns: nil if no Waft answers there.
    private func ask(_ target: PeerTarget) async -> FoundPeer? {
        var found: FoundPeer?
        var pause = Duration.milliseconds(250)
        for _ in 0..<Self.cardAttempts {
            guard let connection = try? await connect(to: target, within: Self.cardPatience) else { return found }
            found = FoundPeer(id: connection.peer, card: nil, target: target.expecting(connection.peer))
            do {
                found?.card = try await HTTPClient.run(connection.http) { http in
                    try await WaftClient(http).card(patience: Self.cardPatience)
                }
                return found
            } catch let fault as HTTPFault where fault == .closed {
                do { try await Task.sleep(for: pause * Double.random(in: 0.75...1.25)) } catch { return found }
                pause *= 2
            } catch {
                return found
            }
        }
        return found
    }
}

/// Which service belongs to which peer, while looking.
private struct PeerBook {
    private var targets: [String: PeerTarget] = [:]
    private var peers: [String: FoundPeer] = [:]

    /// - Returns: the target to ask; nil if it has been asked already.
    mutating func target(for service: DiscoveredService) -> PeerTarget? {
        let addresses = service.addresses.map { DialAddress(host: $0.host, port: Int($0.port), scopeID: $0.scope) }
        let target = PeerTarget(addresses: addresses, expected: nil)
        guard targets.updateValue(target, forKey: service.instance) != target else { return nil }
        return target
    }

    /// - Returns: whether this is news.
    mutating func enter(_ peer: FoundPeer, _ instance: String) -> Bool {
        // The service went while it was being asked.
        guard targets[instance] != nil else { return false }
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
