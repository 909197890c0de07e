import Synchronization

/// The instances in view, with where they were last asked.
final class AirDropView: Sendable {
    private let targets = Mutex<[String: PeerTarget]>([:])
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether it is to be asked there: it was not before, and there are not too many.
    func enter(_ instance: String, at target: PeerTarget) -> Bool {
        targets.withLock { targets in
            guard targets[instance] != target, targets.count < limit || targets[instance] != nil else { return false }
            targets[instance] = target
            return true
        }
    }

    func has(_ instance: String, at target: PeerTarget) -> Bool { targets.withLock { $0[instance] == target } }

    /// - Returns: whether it was there.
    func leave(_ instance: String) -> Bool { targets.withLock { $0.removeValue(forKey: instance) != nil } }
}
