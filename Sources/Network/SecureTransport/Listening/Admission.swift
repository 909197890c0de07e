internal import Sharing

/// Counts a listener's connections and decides which one is closed to make room for another.
///
/// Before the handshake all connections are equal. After it strangers share a part of the places, and an idle
/// stranger's connection makes room for a newer one. No stranger takes the place of a contact. Where strangers enter
/// (`TransportLimits.strangersEnter`), those who have entered are counted apart and make no room.
///
/// A value without I/O; the listener carries out its decisions. Connections have numbers that only grow, so the
/// smallest is the oldest.
struct Admission {
    typealias ID = UInt64
    typealias Instant = ContinuousClock.Instant

    private struct Entry {
        let address: AddressKey
        /// Nil until the handshake is done.
        var peerID: PeerID?
        var isContact = false
        var hasEntered = false
        /// The time since which the connection is idle; nil while a request is being answered.
        var idleSince: Instant?

        var isStranger: Bool { peerID != nil && !isContact && !hasEntered }
    }

    private let limits: TransportLimits
    private var nextID: ID = 0
    private var entries: [ID: Entry] = [:]

    /// The unfinished connections of each address, the oldest first.
    private var unfinished: [AddressKey: [ID]] = [:]
    private(set) var unfinishedCount = 0

    private var strangersPerAddress: [AddressKey: Int] = [:]
    private var finishedPerPeer: [PeerID: Int] = [:]
    private(set) var finishedCount = 0
    private(set) var strangerCount = 0
    private var enteredPerAddress: [AddressKey: Int] = [:]
    private(set) var enteredCount = 0

    init(limits: TransportLimits) {
        self.limits = limits
    }

    /// Admits a connection whose handshake has not begun.
    ///
    /// A new connection is never refused here: it replaces the oldest one from the same address or, when there are too
    /// many in all, the oldest one of the address with the most connections. So no peer can keep others out by opening
    /// connections and leaving them idle.
    ///
    /// - Returns: its number, and the connection that the caller must close to make room, which is already removed.
    mutating func admit(from address: AddressKey) -> (id: ID, evicted: ID?) {
        var evicted: ID?
        if let ids = unfinished[address], ids.count >= limits.unfinishedConnectionsPerAddress {
            evicted = ids.first
        } else if unfinishedCount >= limits.unfinishedConnections {
            evicted = oldestOfMost()
        }
        if let evicted { remove(evicted) }
        let id = nextID
        nextID += 1
        entries[id] = Entry(address: address)
        unfinished[address, default: []].append(id)
        unfinishedCount += 1
        return (id, evicted)
    }

    /// Removes and returns the oldest unfinished connection of the address with the most, for when descriptors run out.
    mutating func evictOldest() -> ID? {
        guard let oldest = oldestOfMost() else { return nil }
        remove(oldest)
        return oldest
    }

    private func oldestOfMost() -> ID? {
        // At most `unfinishedConnections` addresses, and only when the limit is reached.
        let most = unfinished.values.max { ($0.count, $1.first ?? 0) < ($1.count, $0.first ?? 0) }
        return most?.first
    }

    /// The decision about a connection whose handshake is done.
    enum Finish: Equatable {
        /// The connection stays. The caller must close `displaced`, which is already removed.
        case accepted(displaced: ID?)
        /// The connection had to make room before.
        case evicted
        /// A limit is reached (of all, of strangers, of its address or of its peer), and no connection makes room.
        case refused
    }

    /// Records that a connection's handshake is done and that it is idle from now on. A connection that is not accepted
    /// is removed, and the caller must close it.
    mutating func finish(_ id: ID, as peerID: PeerID, isContact: Bool, at now: Instant) -> Finish {
        guard var entry = entries[id] else { return .evicted }
        var displaced: ID?
        if let mustLeave = obstacle(to: peerID, isContact, at: entry.address) {
            // A contact displaces any idle stranger at once, but its own connections only after the delay.
            let isAtOnce = limits.strangersEnter || isContact && !mustLeave.ofPeer
            let latest = isAtOnce ? now : now - limits.displaceableAfter
            guard
                let longest = longestIdle(since: latest, where: mustLeave.isMeant)
                    ?? (limits.strangersEnter ? oldest(where: mustLeave.isMeant) : nil)
            else {
                remove(id)
                return .refused
            }
            remove(longest)
            displaced = longest
        }
        removeUnfinished(id, entry.address)
        (entry.peerID, entry.isContact, entry.idleSince) = (peerID, isContact, now)
        entries[id] = entry
        finishedCount += 1
        finishedPerPeer[peerID, default: 0] += 1
        if !isContact {
            strangerCount += 1
            strangersPerAddress[entry.address, default: 0] += 1
        }
        return .accepted(displaced: displaced)
    }

    /// Records the time since which a connection is idle; nil if it is in use.
    mutating func note(_ id: ID, idleSince: Instant?) {
        entries[id]?.idleSince = idleSince
    }

    /// Records that the visitor of a connection has entered. Without a free place it stays as it is.
    mutating func enter(_ id: ID) {
        guard let entry = entries[id], entry.isStranger,
            enteredCount < limits.connections - limits.connectionsOfStrangers,
            enteredPerAddress[entry.address, default: 0] < limits.enteredPerAddress
        else { return }
        entries[id]?.hasEntered = true
        strangerCount -= 1
        decrement(&strangersPerAddress, entry.address)
        enteredCount += 1
        enteredPerAddress[entry.address, default: 0] += 1
    }

    /// A limit that is reached. One of the connections that `isMeant` selects must close before the new one can stay.
    private struct Obstacle {
        /// Whether it is the limit of the new connection's own peer.
        let ofPeer: Bool
        let isMeant: (Entry) -> Bool
    }

    /// - Returns: nil if there is room.
    private func obstacle(to peerID: PeerID, _ isContact: Bool, at address: AddressKey) -> Obstacle? {
        let ofPeer = finishedPerPeer[peerID, default: 0] >= limits.connectionsPerPeer
        let inAll = finishedCount >= limits.connections
        if isContact {
            guard ofPeer || inAll else { return nil }
            return Obstacle(ofPeer: ofPeer) { ofPeer ? $0.peerID == peerID : $0.isStranger }
        }
        let ofAddress = strangersPerAddress[address, default: 0] >= limits.connectionsPerAddress
        guard ofPeer || ofAddress || inAll || strangerCount >= limits.connectionsOfStrangers else { return nil }
        return Obstacle(ofPeer: ofPeer) { entry in
            entry.isStranger && (!ofPeer || entry.peerID == peerID) && (!ofAddress || entry.address == address)
        }
    }

    private func longestIdle(since latest: Instant, where isMeant: (Entry) -> Bool) -> ID? {
        // At most `connections` entries, and only when a limit is reached.
        let idle = entries.compactMap { id, entry -> (since: Instant, id: ID)? in
            guard let since = entry.idleSince, since <= latest, isMeant(entry) else { return nil }
            return (since, id)
        }
        return idle.min { ($0.since, $0.id) < ($1.since, $1.id) }?.id
    }

    private func oldest(where isMeant: (Entry) -> Bool) -> ID? { entries.filter { isMeant($0.value) }.keys.min() }

    /// Removes a connection that is closed. Does nothing if it was removed before.
    mutating func remove(_ id: ID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        guard let peerID = entry.peerID else { return removeUnfinished(id, entry.address) }
        finishedCount -= 1
        decrement(&finishedPerPeer, peerID)
        if entry.hasEntered {
            enteredCount -= 1
            decrement(&enteredPerAddress, entry.address)
        }
        guard entry.isStranger else { return }
        strangerCount -= 1
        decrement(&strangersPerAddress, entry.address)
    }

    private mutating func removeUnfinished(_ id: ID, _ address: AddressKey) {
        unfinished[address]?.removeAll { $0 == id }
        if unfinished[address]?.isEmpty == true { unfinished[address] = nil }
        unfinishedCount -= 1
    }

    private func decrement<Key>(_ counts: inout [Key: Int], _ key: Key) {
        guard let count = counts[key], count > 1 else {
            counts[key] = nil
            return
        }
        counts[key] = count - 1
    }
}
