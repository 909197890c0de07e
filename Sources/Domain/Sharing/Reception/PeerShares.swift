/// Values of peers, within a limit for all and one for each peer: the oldest are forgotten first. So a peer that fills its
/// share displaces its own values, and not those of others.
struct PeerShares<Key: Hashable, Value> {
    private let limit: Int
    private let perPeer: Int
    private var values: [Key: (value: Value, peer: PeerID)] = [:]
    /// Oldest first.
    private var order: [Key] = []

    init(limit: Int, perPeer: Int) {
        (self.limit, self.perPeer) = (limit, perPeer)
    }

    subscript(key: Key) -> Value? { values[key]?.value }

    mutating func set(_ key: Key, _ value: Value, of peer: PeerID) {
        if values.updateValue((value, peer), forKey: key) == nil { order.append(key) }
        let own = values.values.count { $0.peer == peer }
        if own > perPeer, let oldest = order.first(where: { values[$0]?.peer == peer }) { remove(oldest) }
        if order.count > limit { remove(order[0]) }
    }

    @discardableResult
    mutating func remove(_ key: Key) -> Value? {
        guard let removed = values.removeValue(forKey: key) else { return nil }
        order.removeAll { $0 == key }
        return removed.value
    }
}
