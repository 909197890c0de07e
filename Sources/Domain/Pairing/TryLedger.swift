internal import Sharing

/// The failed tries, of all peers and of each peer, and the locks that follow from them.
///
/// Keys cost a stranger nothing, so the count of all peers protects; the count of one peer prevents that it locks out
/// the others. Every lock ends by itself, and a try that a lock refuses is not counted.
struct TryLedger {
    /// Maximum number of peers whose tries are stored.
    static let peers = 64

    let limits: PairingLimits

    private var inAll: [ContinuousClock.Instant] = []
    private var byPeer: [PeerID: [ContinuousClock.Instant]] = [:]
    private var peerLocks: [PeerID: ContinuousClock.Instant] = [:]
    private var lock: ContinuousClock.Instant?

    init(limits: PairingLimits) {
        self.limits = limits
    }

    /// The end of the lock for strangers; nil if they are not locked out.
    func locked(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        lock.flatMap { now < $0 ? $0 : nil }
    }

    /// The end of this peer's lock by its own tries; nil if it is not locked out.
    func locked(_ peer: PeerID, at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        peerLocks[peer].flatMap { now < $0 ? $0 : nil }
    }

    /// The number of stored failed tries of each peer.
    func failures(at now: ContinuousClock.Instant) -> [PeerID: Int] {
        byPeer.compactMapValues { tries in
            let count = tries.count { $0 + limits.memory > now }
            return count > 0 ? count : nil
        }
    }

    /// Counts a failed try.
    mutating func fail(_ peer: PeerID, at now: ContinuousClock.Instant) {
        forget(at: now)
        inAll.append(now)
        if inAll.count >= limits.failures {
            inAll = []
            lock = now + limits.lock
        }
        byPeer[peer, default: []].append(now)
        if let tries = byPeer[peer], tries.count >= limits.failuresPerPeer {
            byPeer[peer] = nil
            peerLocks[peer] = now + limits.lock
        }
        if byPeer.count > Self.peers, let oldest = byPeer.min(by: { $0.value[0] < $1.value[0] }) {
            byPeer[oldest.key] = nil
        }
        if peerLocks.count > Self.peers, let oldest = peerLocks.min(by: { $0.value < $1.value }) {
            peerLocks[oldest.key] = nil
        }
    }

    /// Deletes the failed tries of a peer that is now verified.
    mutating func succeed(_ peer: PeerID) {
        byPeer[peer] = nil
        peerLocks[peer] = nil
    }

    private mutating func forget(at now: ContinuousClock.Instant) {
        let memory = limits.memory
        inAll.removeAll { $0 + memory <= now }
        byPeer = byPeer.compactMapValues { tries in
            let remembered = tries.filter { $0 + memory > now }
            return remembered.isEmpty ? nil : remembered
        }
        peerLocks = peerLocks.filter { now < $0.value }
    }
}
