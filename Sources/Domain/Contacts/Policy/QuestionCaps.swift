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

    /// Why a stranger may cause no question now.
    package enum Hindrance: Error, Hashable {
        /// Too many questions wait for an answer.
        case waiting
        /// Too many were asked within a minute. The value is the time until there is room again, more than zero.
        case rate(Duration)
    }

    /// Counts a question of a stranger, if the stranger may cause one more. It counts as waiting until `end`.
    ///
    /// A refused question is not counted: further attempts do not prolong the wait.
    /// - Returns: nil if it is counted.
    package mutating func begin(_ peer: PeerID, at now: ContinuousClock.Instant) -> Hindrance? {
        if let hindrance = hindrance(of: peer, at: now) { return hindrance }
        waiting[peer, default: 0] += 1
        waitingInAll += 1
        asked.append((peer, now))
        return nil
    }

    /// Why a stranger may cause no further question; nil if it may.
    package mutating func hindrance(of peer: PeerID, at now: ContinuousClock.Instant) -> Hindrance? {
        asked.removeAll { $0.at + Self.minute <= now }
        guard waitingInAll < bounds.waitingOfStrangers, waiting[peer, default: 0] < bounds.waitingPerStranger else {
            return .waiting
        }
        let own = asked.filter { $0.peer == peer }
        let oldest = [
            asked.count < bounds.inAMinuteOfStrangers ? nil : asked.first?.at,
            own.count < bounds.inAMinutePerStranger ? nil : own.first?.at,
        ]
        return oldest.compactMap(\.self).max().map { .rate($0 + Self.minute - now) }
    }

    private static let minute: Duration = .seconds(60)

    /// Ends the wait of a question that `begin` has counted.
    package mutating func end(_ peer: PeerID) {
        guard let count = waiting[peer] else { return }
        waiting[peer] = count > 1 ? count - 1 : nil
        waitingInAll -= 1
    }

    /// Number of questions that wait now.
    package var waitingCount: Int { waitingInAll }
}
