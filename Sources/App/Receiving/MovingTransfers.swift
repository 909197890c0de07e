import Lines
import Sending
import Sharing
import Synchronization

/// The transfers that move now, in both directions: those that arrive, the jobs of the outbox, and the sendings of the
/// user's other programs, which report themselves.
final class MovingTransfers: SendingWatch {
    /// How long a transfer is remembered after its end, and a sending of another program after its last report.
    static let remembered: Duration = .seconds(5)
    /// From this number on those that have ended are forgotten when another begins.
    private static let maximum = 1_024
    /// From this number on those that have ended a while ago are.
    private static let few = 64

    private struct Entry {
        var summary: MovingLine
        var rate = MovingRate()
        /// When it was last heard of.
        var heard: ContinuousClock.Instant
        /// Whether another program reports it.
        var isReported = false
        var isCancelled = false

        /// Whether it is remembered no longer.
        func isOver(at now: ContinuousClock.Instant) -> Bool {
            (summary.isOver || isReported) && heard + MovingTransfers.remembered <= now
        }
    }

    private struct Courses {
        var all: [String: Entry] = [:]
        /// The number from which on they are looked through when another begins: at most once for each doubling.
        var limit = MovingTransfers.few

        /// Forgets those that have ended a while ago.
        mutating func forget(at now: ContinuousClock.Instant) {
            all = all.filter { !$0.value.isOver(at: now) }
            limit = max(MovingTransfers.few, min(2 * all.count, MovingTransfers.maximum))
        }
    }

    private let courses = Mutex(Courses())
    private let introduction: @Sendable (PeerID, _ name: String) -> Introduction

    /// - Parameter introduction: of a peer that gives itself the name.
    init(introduction: @escaping @Sendable (PeerID, _ name: String) -> Introduction) {
        self.introduction = introduction
    }

    // MARK: Events

    func hear(_ event: Reception.Event, at now: ContinuousClock.Instant = .now) {
        switch event {
        case .began(let offer, let peer):
            let summary = arriving(offer, from: peer)
            note(summary, at: now)
        case .progressed(let id, _, let received, let total):
            change(id) { course in
                // A sender that pipes something does not know how much comes.
                (course.summary.bytes, course.summary.total) = (received, total > 0 ? total : nil)
                course.heard = now
                course.rate.note(received, at: now)
            }
        case .ended(let id, _, let receipt, let fault):
            change(id) { course in
                course.summary.end(fault?.message ?? receipt.failures)
                course.heard = now
            }
        default: break
        }
    }

    /// The contents of a transfer that arrives are passed on to another member of its group.
    func passesOn(_ id: TransferID, to next: PeerID) {
        change(id) { $0.summary.relaying = Person(id: next, ownName: nil, introduction: introduction(next, "")).fields }
    }

    func moved(_ transfer: MovingLine, _ cancellation: Cancellation) { note(transfer, at: .now) }

    func ended(_ transfer: MovingLine) async { note(transfer, at: .now) }

    /// Another program has reported its sending.
    /// - Returns: whether the user has cancelled it.
    func reported(_ transfer: MovingLine, at now: ContinuousClock.Instant = .now) -> Bool {
        note(transfer, isReported: true, at: now)
    }

    @discardableResult
    private func note(_ summary: MovingLine, isReported: Bool = false, at now: ContinuousClock.Instant) -> Bool {
        courses.withLock { courses in
            if courses.all.count >= courses.limit { courses.forget(at: now) }
            if courses.all.count >= Self.maximum { courses.all = courses.all.filter { !$0.value.summary.isOver } }
            var course = courses.all[summary.transfer] ?? Entry(summary: summary, heard: now)
            (course.summary, course.heard, course.isReported) = (summary, now, isReported)
            if let bytes = summary.bytes { course.rate.note(bytes, at: now) }
            courses.all[summary.transfer] = course
            return course.isCancelled
        }
    }

    private func change(_ id: TransferID, _ change: (inout Entry) -> Void) {
        courses.withLock { courses in
            if var course = courses.all.removeValue(forKey: id.text) {
                change(&course)
                courses.all[id.text] = course
            }
        }
    }

    // MARK: Questions

    /// All of them, and those that have just ended.
    /// - Parameter accepted: the offers whose contents come, or will come.
    func all(
        accepted: [(offer: Offer, peer: PeerID)], at now: ContinuousClock.Instant = .now
    ) -> [MovingLine] {
        let moving = courses.withLock { courses in
            courses.forget(at: now)
            return courses.all.mapValues { course in
                var (summary, rate) = (course.summary, course.rate)
                // One that stands still has no speed.
                if let bytes = summary.bytes { rate.note(bytes, at: now) }
                summary.move(at: rate.bytesPerSecond)
                return summary
            }
        }
        let waiting = accepted.filter { moving[$0.offer.transfer.text] == nil }.map {
            arriving($0.offer, from: $0.peer)
        }
        return (moving.values + waiting).sorted { ($0.way.rawValue, $0.transfer) < ($1.way.rawValue, $1.transfer) }
    }

    /// Cancels the sending of another program at its next report.
    /// - Returns: whether there is one.
    func cancel(_ transfer: String) -> Bool {
        courses.withLock { courses in
            guard let course = courses.all[transfer], course.isReported, !course.summary.isOver else { return false }
            courses.all[transfer]?.isCancelled = true
            return true
        }
    }

    private func arriving(_ offer: Offer, from peer: PeerID) -> MovingLine {
        let name = offer.senderName
        return MovingLine(
            receiving: offer, from: Person(id: peer, ownName: name, introduction: introduction(peer, name)).fields)
    }
}
