package import Sharing

/// Limits the questions that strangers may cause: no clock, no tasks.
///
/// Contacts are not counted here; `Limits.waitingOffersPerPeer` applies to them too.
package struct QuestionCaps: Sendable {
    /// The maximum counts.
    package struct Bounds: Hashable, Sendable {
        package var waitingPerStranger: Int
        package var waitingOfStrangers: Int
        package var inAMinutePerStranger: Int
        package var inAMinuteOfStrangers: Int

        package static let standard = Bounds(
            waitingPerStranger: ContactBounds.waitingPerStranger,
            waitingOfStrangers: ContactBounds.waitingOfStrangers,
            inAMinutePerStranger: ContactBounds.questionsPerStranger,
            inAMinuteOfStrangers: ContactBounds.questionsOfStrangers)
    }

    private let bounds: Bounds
    private var waiting: [PeerID: Int] = [:]
    private var waitingInAll = 0
    /// The questions of the last minute, oldest first: at most `inAMinuteOfStrangers`.
    private var asked: [(peer: PeerID, at: ContinuousClock.Instant)] = []

    package init(_ bounds: Bounds = .standard) {
        self.bounds = bounds
    }

    /// Counts a question of a stranger, if the stranger may cause one more. It counts as waiting until `end`.
    ///
    /// A refused question is not counted: further attempts do not prolong the wait.
    package mutating func begin(_ peer: PeerID, at now: ContinuousClock.Instant) -> Bool {
        guard hasRoom(for: peer, at: now) else { return false }
        waiting[peer, default: 0] += 1
        waitingInAll += 1
        asked.append((peer, now))
        return true
    }

    /// Whether a stranger may cause one more question.
    package mutating func hasRoom(for peer: PeerID, at now: ContinuousClock.Instant) -> Bool {
        asked.removeAll { $0.at + .seconds(60) <= now }
        return waitingInAll < bounds.waitingOfStrangers && waiting[peer, default: 0] < bounds.waitingPerStranger
            && asked.count < bounds.inAMinuteOfStrangers
            && asked.count(where: { $0.peer == peer }) < bounds.inAMinutePerStranger
    }

    /// Ends the wait of a question that `begin` has counted.
    package mutating func end(_ peer: PeerID) {
        guard let count = waiting[peer] else { return }
        waiting[peer] = count > 1 ? count - 1 : nil
        waitingInAll -= 1
    }

    /// Number of questions that wait now.
    package var waitingCount: Int { waitingInAll }
}
