/// Counts what passes in each window of time, for each key and in all. Its memory is bounded by the number of all that pass.
package struct RateWindow<Key: Hashable & Sendable>: Sendable {
    private let length: Duration
    private let perKey: Int
    private let inAll: Int
    private var begin: ContinuousClock.Instant?
    private var passed: [Key: Int] = [:]
    private var total = 0

    /// - Parameters:
    ///   - length: of a window.
    ///   - perKey: how many may pass for one key in a window.
    ///   - inAll: how many may pass in a window.
    package init(of length: Duration, each perKey: Int, inAll: Int) {
        (self.length, self.perKey, self.inAll) = (length, perKey, inAll)
    }

    /// - Parameter now: never before that of an earlier call.
    /// - Returns: whether one with this key may pass now; it then counts.
    package mutating func pass(_ key: Key, at now: ContinuousClock.Instant) -> Bool {
        if begin.map({ now >= $0 + length }) ?? true {
            begin = now
            passed.removeAll(keepingCapacity: true)
            total = 0
        }
        guard total < inAll, passed[key, default: 0] < perKey else { return false }
        total += 1
        passed[key, default: 0] += 1
        return true
    }
}
