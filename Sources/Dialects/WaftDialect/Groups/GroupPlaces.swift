import Groups
import Sharing
import Synchronization

/// The groups in which this machine passes contents on. A place is taken by a verdict that says so, and is free again when the
/// control connection has ended, or when there will be none because the offer is over.
final class GroupPlaces: Sendable {
    private struct Place {
        let peer: PeerID
        let transfer: TransferID
        let isContact: Bool
        /// Whether the control connection has begun.
        var hasBegun = false
        /// Nil before the control connection.
        var membership: GroupMembership?
    }

    private let places = Mutex<[GroupID: Place]>([:])

    /// Takes a place for an offer that was accepted.
    ///
    /// - Parameter isOpen: whether a peer's transfer is still accepted, or is being received.
    /// - Returns: false if there is none: contacts can take all of them, strangers together a part, and one peer one.
    func reserve(
        _ group: GroupID, for transfer: TransferID, of peer: PeerID, isContact: Bool,
        isOpen: (TransferID, PeerID) -> Bool
    ) -> Bool {
        places.withLock { places in
            for (id, place) in places where !place.hasBegun {
                // A peer can offer again.
                if place.peer == peer || !isOpen(place.transfer, place.peer) { places[id] = nil }
            }
            guard places[group] == nil, !places.values.contains(where: { $0.peer == peer }),
                places.count < Limits.groups,
                isContact || places.values.count(where: { !$0.isContact }) < Limits.groupsOfStrangers
            else { return false }
            places[group] = Place(peer: peer, transfer: transfer, isContact: isContact)
            return true
        }
    }

    /// The control connection of a group begins, once. `leave` must follow.
    ///
    /// - Returns: the transfer; nil if the peer has no such place.
    func begin(_ group: GroupID, of peer: PeerID) -> TransferID? {
        places.withLock { places in
            guard let place = places[group], place.peer == peer, !place.hasBegun else { return nil }
            places[group]?.hasBegun = true
            return place.transfer
        }
    }

    /// From now on `membership` is the one of its group.
    func enter(_ membership: GroupMembership) {
        places.withLock { $0[membership.group]?.membership = membership }
    }

    func leave(_ group: GroupID) { places.withLock { $0[group] = nil } }

    /// The ordinary contents of a transfer have come: its group has no need of a place.
    func forget(_ transfer: TransferID, of peer: PeerID) {
        places.withLock { places in
            for (id, place) in places where place.transfer == transfer && place.peer == peer && !place.hasBegun {
                places[id] = nil
            }
        }
    }

    /// - Returns: nil for a group that has no control connection.
    func membership(of group: GroupID) -> GroupMembership? { places.withLock { $0[group]?.membership } }
}
