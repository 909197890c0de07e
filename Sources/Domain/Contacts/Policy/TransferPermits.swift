package import Sharing
internal import Streams
private import Synchronization

/// The transfers that the user lets in by a spoken code: each from one key, once.
///
/// ```
/// given ──accepted──▶ moving ──ended, whole──▶ gone
///   │                 │    ▲
///   │ 60 s      ended │    │ accepted again
///   ▼                 ▼    │
///  gone ◀─10 min── interrupted
/// ```
///
/// All instants come from the caller, from one clock.
package final class TransferPermits: Sendable {
    /// How long an offer may take to come, and how long an interrupted transfer may take to be offered again.
    package static let coming: Duration = .seconds(60)
    package static let resuming: Duration = .seconds(600)
    /// Permits at the same time. Each is given by a person; one more drops the oldest.
    static let limit = 16

    private enum State {
        case given(until: ContinuousClock.Instant)
        case moving
        case interrupted(until: ContinuousClock.Instant)

        var end: ContinuousClock.Instant? {
            switch self {
            case .given(let until), .interrupted(let until): until
            case .moving: nil
            }
        }
    }

    private struct Permit {
        let peer: PeerID
        let transfer: TransferID
        var state: State
    }

    private let permits = Mutex<[Permit]>([])
    private let news = Broadcast<Void>(buffer: .bufferingNewest(1))

    package init() {}

    /// Reports each change but an end by time.
    package func changes() -> AsyncStream<Void> { news.watch() }

    /// Lets one transfer of a peer in.
    package func give(_ transfer: TransferID, from peer: PeerID, at now: ContinuousClock.Instant) {
        permits.withLock { permits in
            permits.removeAll { $0.peer == peer && $0.transfer == transfer }
            if permits.count == Self.limit { permits.removeFirst() }
            permits.append(Permit(peer: peer, transfer: transfer, state: .given(until: now + Self.coming)))
        }
        news.send(())
    }

    /// Lets a transfer in no more, unless it has begun.
    package func withdraw(_ transfer: TransferID) {
        permits.withLock { permits in
            permits.removeAll { permit in
                if case .given = permit.state { permit.transfer == transfer } else { false }
            }
        }
        news.send(())
    }

    /// Whether a peer may offer a transfer; nil: any at all.
    package func covers(_ transfer: TransferID? = nil, from peer: PeerID, at now: ContinuousClock.Instant) -> Bool {
        current(at: now).contains { $0.peer == peer && (transfer == nil || $0.transfer == transfer) }
    }

    /// Whether any transfer is let in.
    package func isAny(at now: ContinuousClock.Instant) -> Bool { !current(at: now).isEmpty }

    /// Learns how a transfer goes.
    package func hear(_ event: Reception.Event, at now: ContinuousClock.Instant = .now) {
        switch event {
        case .judged(let offer, let verdict, let peer) where verdict.acceptsAnything:
            change(offer.transfer, peer, to: .moving)
        case .ended(let transfer, let peer, _, let fault):
            // A user has cancelled it: it is not let in again.
            let isOver = fault == nil || fault?.code == .cancelled
            change(transfer, peer, to: isOver ? nil : .interrupted(until: now + Self.resuming))
        default: return
        }
    }

    private func change(_ transfer: TransferID, _ peer: PeerID, to state: State?) {
        let isKnown = permits.withLock { permits in
            guard let place = permits.firstIndex(where: { $0.peer == peer && $0.transfer == transfer }) else {
                return false
            }
            if let state { permits[place].state = state } else { permits.remove(at: place) }
            return true
        }
        if isKnown { news.send(()) }
    }

    private func current(at now: ContinuousClock.Instant) -> [Permit] {
        permits.withLock { permits in
            permits.removeAll { permit in permit.state.end.map { $0 <= now } ?? false }
            return permits
        }
    }
}
