import Sharing
private import Synchronization

/// Bounds the threads on which contents are received: contacts can take all of them, strangers together a part, and one
/// stranger a part of that.
final class ContentThreads: Sendable {
    private struct Occupant {
        let visitor: Visitor
        let isContact: Bool

        /// Whether both count as one stranger's: they have the same key or, because new keys cost nothing, the same
        /// address.
        func isOfSameStranger(as other: Visitor) -> Bool {
            !isContact && (visitor.peer == other.peer || visitor.address.map { $0 == other.address } ?? false)
        }
    }

    private struct State {
        var occupants: [UInt64: Occupant] = [:]
        var nextNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// - Returns: a place for one thread, which is free again when the value is released; nil if there is none.
    func take(for visitor: Visitor, isContact: Bool) -> Place? {
        state.withLock { state in
            let occupants = state.occupants.values
            guard occupants.count < Limits.contentThreads else { return nil }
            guard
                isContact
                    || occupants.count(where: { !$0.isContact }) < Limits.contentThreadsOfStrangers
                        && occupants.count(where: { $0.isOfSameStranger(as: visitor) })
                            < Limits.contentThreadsPerStranger
            else { return nil }
            defer { state.nextNumber += 1 }
            state.occupants[state.nextNumber] = Occupant(visitor: visitor, isContact: isContact)
            return Place(self, state.nextNumber)
        }
    }

    private func leave(_ number: UInt64) {
        state.withLock { $0.occupants[number] = nil }
    }

    final class Place: Sendable {
        private let threads: ContentThreads
        private let number: UInt64

        fileprivate init(_ threads: ContentThreads, _ number: UInt64) {
            (self.threads, self.number) = (threads, number)
        }

        deinit { threads.leave(number) }
    }
}
