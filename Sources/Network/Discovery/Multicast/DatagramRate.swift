/// The datagrams that may pass in each second. Its memory is bounded by the number of all that pass.
struct DatagramRate {
    private let perAddress: Int
    private let inAll: Int
    private var second: ContinuousClock.Instant?
    private var passed: [[UInt8]: Int] = [:]
    private var total = 0

    init(perAddress: Int = DiscoveryLimits.datagramsPerAddress, inAll: Int = DiscoveryLimits.datagrams) {
        (self.perAddress, self.inAll) = (perAddress, inAll)
    }

    /// - Parameters:
    ///   - source: the sender's address, in network order.
    ///   - now: never before that of an earlier call.
    /// - Returns: whether a datagram from there may pass now; it then counts.
    mutating func pass(_ source: [UInt8], at now: ContinuousClock.Instant) -> Bool {
        if second.map({ now >= $0 + .seconds(1) }) ?? true {
            second = now
            passed.removeAll(keepingCapacity: true)
            total = 0
        }
        guard total < inAll, passed[source, default: 0] < perAddress else { return false }
        total += 1
        passed[source, default: 0] += 1
        return true
    }
}
