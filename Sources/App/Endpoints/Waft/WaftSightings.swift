import Discovery
import SecureTransport
import Sharing
import WaftDialect

/// Which service belongs to which peer while looking, and what has been told of each peer.
///
/// A peer that changes announces itself anew, as another service. It stays the same peer by its key.
struct WaftSightings {
    /// A service in view.
    private struct Service {
        var target: PeerTarget
        /// The peer that answered there last, with the target that was asked.
        var peer: FoundPeer?
        /// Its place in the order of sightings.
        let number: Int
        /// Whether a question is under way, or will be asked again until it is answered.
        var isAsked = true
        /// Whether no question has come to an end yet.
        var isFresh = true
        /// The number of the repeated question that was last.
        var lastRepetition = 0
    }

    /// A peer that has been told.
    private struct Told {
        var peer: FoundPeer
        /// Attempts to connect without an answer since the last one with an answer.
        var silences = 0
        var isTried = false
        /// The number of the attempt that was last.
        var lastAttempt = 0
    }

    /// Attempts to connect without an answer after which a peer is gone: a datagram of one can get lost.
    private static let maximumSilences = 2

    let own: PeerID
    private var services: [String: Service] = [:]
    private var told: [PeerID: Told] = [:]
    private var attempts = 0
    private var sightings = 0
    private var repetitions = 0

    init(own: PeerID) { self.own = own }

    /// - Returns: the target to ask; nil if it has been asked already.
    mutating func target(for service: DiscoveredService) -> PeerTarget? {
        let addresses = service.addresses.map { DialAddress(host: $0.host, port: Int($0.port), scopeID: $0.scope) }
        let target = PeerTarget(.waft, addresses: addresses)
        guard services[service.instance]?.target != target else { return nil }
        if services[service.instance] == nil {
            sightings += 1
            services[service.instance] = Service(target: target, number: sightings)
        }
        services[service.instance]?.target = target
        services[service.instance]?.isAsked = true
        return target
    }

    /// Whether the service is still there, at this target.
    func expects(_ target: PeerTarget, _ instance: String) -> Bool { services[instance]?.target == target }

    /// The answer to a question.
    ///
    /// - Parameters:
    ///   - peer: nil if no Waft answered.
    ///   - target: the one that was asked.
    ///   - isSure: whether a peer without a card has refused to send it.
    ///   - isOver: whether the question is not asked again until it is answered.
    /// - Returns: the news.
    mutating func enter(
        _ peer: FoundPeer?, _ target: PeerTarget, _ instance: String, isSure: Bool, isOver: Bool
    ) -> [PeerEvent] {
        guard let service = services[instance] else { return [] }
        services[instance]?.isFresh = false
        if isOver, service.target == target { services[instance]?.isAsked = false }
        // The service has other addresses by now, and was found there.
        guard let peer, service.target == target || service.peer == nil else { return [] }
        services[instance]?.peer = peer
        guard peer.id != own else { return [] }
        var events: [PeerEvent] = []
        if let before = service.peer?.id, before != peer.id, !isInView(before) { events += leave(before) }
        // A peer that did not answer in time has the name that it had.
        return events + tell(peer.id, peer.card == nil && !isSure ? told[peer.id]?.peer.card : peer.card)
    }

    /// - Returns: the news, and the peer that may have gone: services that are being asked for the first time may be the
    ///   same peer under its new name.
    mutating func remove(_ instance: String) -> (news: [PeerEvent], leaving: PeerID?) {
        guard let peer = services.removeValue(forKey: instance)?.peer else { return ([], nil) }
        // One that has gone from view stays gone until it answers.
        guard let known = told[peer.id] else { return ([], nil) }
        if isInView(peer.id) { return (tell(peer.id, known.peer.card), nil) }
        let isAmbiguous = services.values.contains { $0.isFresh }
        return isAmbiguous ? ([], peer.id) : (leave(peer.id), nil)
    }

    /// - Returns: that the peer has gone; nothing if it is in view under another name.
    mutating func leave(_ peer: PeerID) -> [PeerEvent] {
        guard !isInView(peer), told.removeValue(forKey: peer) != nil else { return [] }
        return [.gone(peer)]
    }

    /// Services to ask again: of each peer the newest, and those first that have waited longest.
    mutating func due(atMost count: Int) -> [(instance: String, target: PeerTarget)] {
        let known = services.filter { $0.value.peer.map { $0.id != own } ?? false }
        let newest = Dictionary(grouping: known) { $0.value.peer?.id }.values
            .compactMap { $0.max { $0.value.number < $1.value.number } }
        let due = newest.filter { !$0.value.isAsked }.sorted {
            ($0.value.lastRepetition, $0.value.number) < ($1.value.lastRepetition, $1.value.number)
        }
        return due.prefix(count).map { instance, service in
            repetitions += 1
            services[instance]?.lastRepetition = repetitions
            services[instance]?.isAsked = true
            return (instance, service.target)
        }
    }

    /// Peers to connect to, so that one that was killed leaves: those first that have waited longest.
    mutating func peersToTry(atMost count: Int) -> [PeerTarget] {
        let due = told.filter { !$0.value.isTried }
            .sorted { ($0.value.lastAttempt, $0.key.text) < ($1.value.lastAttempt, $1.key.text) }
        return due.prefix(count).map { id, known in
            attempts += 1
            told[id]?.lastAttempt = attempts
            told[id]?.isTried = true
            return known.peer.target
        }
    }

    /// Notes what became of an attempt to connect.
    ///
    /// - Parameter target: as it was tried; the attempt says nothing about addresses that have changed since.
    /// - Returns: the end of the peer, if no program answers at its addresses. Its services stay, to be asked again.
    mutating func note(_ answer: PortAnswer, of target: PeerTarget) -> [PeerEvent] {
        guard let id = target.expected, let known = told[id] else { return [] }
        told[id]?.isTried = false
        guard known.peer.target == target else { return [] }
        switch answer {
        case .open: told[id]?.silences = 0
        case .unknown: break
        case .silent where known.silences + 1 < Self.maximumSilences: told[id]?.silences += 1
        case .silent, .refused:
            told[id] = nil
            return [.gone(id)]
        }
        return []
    }

    private func isInView(_ peer: PeerID) -> Bool { services.values.contains { $0.peer?.id == peer } }

    /// A peer is at the addresses of all its services, the newest first: those of a new one become known one by one.
    private mutating func tell(_ id: PeerID, _ card: Card?) -> [PeerEvent] {
        let peers = services.values.filter { $0.peer?.id == id }.sorted { $0.number > $1.number }.compactMap(\.peer)
        guard id != own, var peer = peers.first else { return [] }
        peer.card = card
        for address in peers.dropFirst().flatMap(\.target.addresses)
        where !peer.target.addresses.contains(address)
            && peer.target.addresses.count < DiscoveryLimits.addressesPerService
        {
            peer.target.addresses.append(address)
        }
        let before = told[id]?.peer
        told[id, default: Told(peer: peer)].peer = peer
        return before?.card == card && before?.target == peer.target ? [] : [.found(peer)]
    }
}
