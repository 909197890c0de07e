import Endpoints
import Outbox
import Synchronization

/// The groups of jobs that are being sent together. The first job of a party makes its group, and the last one ends it.
final class OutboxGroups: Sendable {
    private struct Group {
        /// Nil if the items are not sent as a group.
        var group: SendGroup?
        var clock: Task<Void, Never>?
        /// The jobs that are here.
        var present = 0
    }

    private let groups = Mutex<[UInt64: Group]>([:])

    /// - Parameter make: returns nil if the items are not sent as a group.
    /// - Returns: the place of the job; `leave` must follow.
    func enter(_ party: OutboxParty, make: () -> SendGroup?) -> SendGroup.Seat? {
        groups.withLock { groups in
            if groups[party.id] == nil {
                let group = make()
                groups[party.id] = Group(group: group, clock: group.map { group in Task { await group.run() } })
            }
            groups[party.id]?.present += 1
            return groups[party.id]?.group.map { SendGroup.Seat($0, member: party.member) }
        }
    }

    func leave(_ party: OutboxParty) {
        groups.withLock { groups in
            groups[party.id]?.group?.left(party.member)
            groups[party.id]?.present -= 1
            guard groups[party.id]?.present == 0 else { return }
            groups.removeValue(forKey: party.id)?.clock?.cancel()
        }
    }
}
