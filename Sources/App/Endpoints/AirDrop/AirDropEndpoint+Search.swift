import AirDropDialect
import Discovery
import HTTPChannel
import SecureTransport
import Settings
import Sharing
import Streams
import Synchronization

extension AirDropEndpoint {
    /// Timeout for a peer to send its name, and number of attempts: at the first, the peer often is only waking up.
    private static let discoverTimeout: Duration = .seconds(3)
    private static let discoverAttempts = 3
    /// The pause before a peer is asked. Each Waft has AirDrop too, and a search for its name ends before that: the key for
    /// the question takes 0.1 s of a processor.
    private static let patience: Duration = .milliseconds(200)
    /// Peers in view that are asked: anybody on the link can announce thousands.
    private static let peersInView = 256

    /// Each service in view is asked for its name.
    package func search(_ found: AsyncStream<PeerEvent>.Continuation, isWatched: Bool) async {
        guard options.isEnabled, let directory = try? directory.current?.get() else { return }
        let view = AirDropView(limit: Self.peersInView)
        let (targets, feed) = AsyncStream<PeerTarget>.makeStream()
        @Sendable func leave(_ instance: String) {
            if view.leave(instance) { found.yield(.gone(Self.target(of: instance).airDropID)) }
        }
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await event in directory.browse(type: AirDropDialect.serviceType) {
                    switch event {
                    case .updated(let service):
                        if !Self.isOwn(service) { feed.yield(Self.target(of: service)) }
                    case .removed(let instance): leave(instance)
                    // The other search says it too.
                    case .failed, .allForNow: continue
                    }
                }
            }
            group.addTask {
                var known: Set<String> = []
                await self.heardPeers { peers, link in
                    let targets = peers.map { Self.target(of: $0, on: link) }
                    let heard = Set(targets.map(\.airDropInstance))
                    for gone in known.subtracting(heard) { leave(gone) }
                    known = heard
                    for target in targets { feed.yield(target) }
                }
            }
            for await target in targets where view.enter(target.airDropInstance, at: target) {
                group.addTask {
                    await Patience.wait(for: Self.patience)
                    guard let peer = await self.ask(target, isInView: { view.has(target) }) else { return }
                    if view.show(target.airDropInstance, at: target) { found.yield(.found(peer)) }
                }
            }
            group.cancelAll()
        }
    }

    /// Whether a receiver is an earlier Waft, which declares this in its TXT record. This version declares it with its
    /// name: a strict sender may expect no other key in the record.
    private static func isOwn(_ service: DiscoveredService) -> Bool { service.txt["waft"] != nil }

    private static func target(of service: DiscoveredService) -> PeerTarget {
        var target = target(of: service.instance, service.txt)
        target.addresses = service.addresses.map {
            DialAddress(host: $0.host, port: Int($0.port), scopeID: $0.scope)
        }
        return target
    }

    private static func target(of instance: String, _ txt: [String: String] = [:]) -> PeerTarget {
        PeerTarget(.airdrop, addresses: [], announcement: .init(instance: instance, facts: txt))
    }

    /// A peer on the radio link is asked until it answers: it listens in short bursts.
    /// - Returns: nil for a peer that does not show itself.
    private func ask(_ target: PeerTarget, isInView: () -> Bool) async -> FoundPeer? {
        for attempt in 0... {
            if attempt > 0 { try? await Task.sleep(for: .seconds(1)) }
            guard !Task.isCancelled, isInView(), attempt < Self.discoverAttempts || target.isOnRadio else { return nil }
            guard let connection = try? await dial(target, within: Self.discoverTimeout) else {
                continue
            }
            let card = try? await HTTPClient.run(connection) { http in
                try await AirDropClient(http, card: side.card, instance: side.instance)
                    .discover(timeout: Self.discoverTimeout)
            }
            guard let card else { continue }
            // The peer also publishes Waft's own service, which proves its key. It must not be shown twice.
            guard !card.isWaft else { return nil }
            var named = target
            named.name = card.name
            named.announcement?.facts[PeerTarget.modelKey] = card.model
            return FoundPeer(id: target.airDropID, card: Card(name: card.name, device: card.model), target: named)
        }
        return nil
    }
}

/// The instances in view, with where they were last asked.
final class AirDropView: Sendable {
    private struct Sighting {
        var target: PeerTarget
        /// Whether its peer has been reported.
        var isShown = false
    }

    private let sightings = Mutex<[String: Sighting]>([:])
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether it is to be asked there: it was not before, and there are not too many. A peer that was heard on
    ///   the radio and also announces itself there is asked once.
    /// - Parameter radio: the index of the radio link; 0 for none.
    func enter(_ instance: String, at target: PeerTarget, radio: UInt32 = RadioLink.index) -> Bool {
        let hosts = target.radioHosts(radio)
        return sightings.withLock { sightings in
            let before = sightings[instance]
            guard before?.target != target, sightings.count < limit || before != nil else { return false }
            let isOther =
                !hosts.isEmpty
                && sightings.contains { $0.key != instance && $0.value.target.radioHosts(radio) == hosts }
            guard !isOther else { return false }
            sightings[instance] = Sighting(target: target, isShown: before?.isShown ?? false)
            return true
        }
    }

    /// Whether a target is still in view.
    func has(_ target: PeerTarget) -> Bool { sightings.withLock { $0[target.airDropInstance]?.target == target } }

    /// Notes that the peer at a target is reported.
    /// - Returns: whether it is still there.
    func show(_ instance: String, at target: PeerTarget) -> Bool {
        sightings.withLock { sightings in
            guard sightings[instance]?.target == target else { return false }
            sightings[instance]?.isShown = true
            return true
        }
    }

    /// - Returns: whether it was there, and its peer had been reported.
    func leave(_ instance: String) -> Bool {
        sightings.withLock { $0.removeValue(forKey: instance)?.isShown == true }
    }
}
