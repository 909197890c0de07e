internal import Sharing

/// Who may connect: counts a listener's connections and decides, before it is known who a peer is, whose turn it is to go.
///
/// A value without I/O; the listener carries out what it says. Connections are named by numbers that only grow, so the
/// smallest is the oldest.
struct Admission {
    typealias ID = UInt64

    private struct Entry {
        let address: AddressKey
        /// Nil until the handshake is done.
        var peerID: PeerID?
    }

    private let limits: TransportLimits
    private var nextID: ID = 0
    private var entries: [ID: Entry] = [:]

    /// The unfinished connections of each address, the oldest first.
    private var unfinished: [AddressKey: [ID]] = [:]
    private(set) var unfinishedCount = 0

    private var finishedPerAddress: [AddressKey: Int] = [:]
    private var finishedPerPeer: [PeerID: Int] = [:]
    private(set) var finishedCount = 0

    init(limits: TransportLimits) {
        self.limits = limits
    }

    /// Lets a connection in whose handshake has not begun.
    ///
    /// A new connection is never refused here: it takes the place of the oldest one from the same address, or, when
    /// there are too many in all, of the oldest one of the address that has most. So nobody can keep others out by
    /// opening connections and leaving them idle.
    ///
    /// - Returns: its number, and the one that must be closed to make room. That one is forgotten already.
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

    /// The oldest unfinished connection of all, for when descriptors run out. It is forgotten.
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

    /// What is to be done with a connection whose handshake is done.
    enum Finish: Equatable {
        case accepted
        /// It had to make room before.
        case evicted
        /// There are too many already: of all, of its address, or of its peer.
        case refused
    }

    /// Notes that a connection's handshake is done. One that is not accepted is forgotten and must be closed.
    mutating func finish(_ id: ID, as peerID: PeerID) -> Finish {
        guard let entry = entries[id] else { return .evicted }
        guard
            finishedCount < limits.connections,
            finishedPerAddress[entry.address, default: 0] < limits.connectionsPerAddress,
            finishedPerPeer[peerID, default: 0] < limits.connectionsPerPeer
        else {
            remove(id)
            return .refused
        }
        removeUnfinished(id, entry.address)
        entries[id]?.peerID = peerID
        finishedCount += 1
        finishedPerAddress[entry.address, default: 0] += 1
        finishedPerPeer[peerID, default: 0] += 1
        return .accepted
    }

    /// Forgets a connection that is closed. One that is forgotten already is no mistake.
    mutating func remove(_ id: ID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        guard let peerID = entry.peerID else { return removeUnfinished(id, entry.address) }
        finishedCount -= 1
        decrement(&finishedPerAddress, entry.address)
        decrement(&finishedPerPeer, peerID)
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
