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

    private enum Step: Sendable {
        case browse(BrowseEvent)
        case asked(instance: String, FoundPeer?)
    }

    package func search(_ found: AsyncStream<PeerEvent>.Continuation) async {
        let type = WaftDialect.serviceType
        let domains = settings.current.askedDomains.map { DomainBrowser(domains: $0) }
        let sources = [(try? directory.current?.get())?.browse(type: type), domains?.browse(type: type)]
            .compactMap(\.self)
        guard !sources.isEmpty else { return }
        let (steps, feed) = AsyncStream<Step>.makeStream()
        await withTaskGroup(of: Void.self) { group in
            for source in sources {
                group.addTask {
                    for await event in source { feed.yield(.browse(event)) }
                }
            }
            var book = WaftSightings()
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
            guard let connection = try? await connect(to: target, within: Self.cardTimeout) else { return found }
            found = FoundPeer(id: connection.peer, card: nil, target: target.expecting(connection.peer))
            do {
                found?.card = try await HTTPClient.run(connection.http) { http in
                    try await WaftClient(http).card(timeout: Self.cardTimeout)
                }
                return found
            } catch let fault as HTTPError where fault == .closed {
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
