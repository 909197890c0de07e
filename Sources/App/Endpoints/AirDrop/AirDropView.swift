import Synchronization

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

    /// - Returns: whether it is to be asked there: it was not before, and there are not too many.
    func enter(_ instance: String, at target: PeerTarget) -> Bool {
        sightings.withLock { sightings in
            let before = sightings[instance]
            guard before?.target != target, sightings.count < limit || before != nil else { return false }
            sightings[instance] = Sighting(target: target, isShown: before?.isShown ?? false)
            return true
        }
    }

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
