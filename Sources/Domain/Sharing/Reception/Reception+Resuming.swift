import Digests
private import Synchronization
import UniformTypes

extension Reception {
    /// Adds to a verdict what is here already of the items that it accepts: what lies in the Inbox, and what is kept of an
    /// attempt that broke off. Looks at the disk and the journal.
    func recognising(_ offer: Offer, _ verdict: Verdict, from peer: PeerID) -> Verdict {
        guard verdict.acceptsAnything else { return verdict }
        var verdict = verdict
        let stored = (try? journal.arrivals(of: offer.transfer, from: peer)) ?? []
        let ofTransfer = Dictionary(stored.map { ($0.itemNumber, $0) }) { _, later in later }
        for (number, item) in offer.items.enumerated() where verdict.items[number].answer == .accepted {
            guard let key = PartialKey(item, from: peer) else { continue }
            if let arrival = ofTransfer[number], arrival.item == item, arrival.digest.algorithm == verdict.digest {
                // Whatever has become of it since: by this transfer it was stored.
                verdict.items[number].present = arrival.sentDigest ?? arrival.digest
            } else {
                verdict.items[number].present =
                    EarlierArrivals(inbox: inbox, journal: journal).latest(item, from: peer, verdict.digest)?.digest
            }
            verdict.items[number].hasKept = inbox.hasKept(key)
        }
        return verdict
    }

    /// Waits a moment for transfers of the same items by the same peer that are coming to their end: a sender that was
    /// killed and is called again at once finds what the one before has brought only when that has been put aside. One on
    /// which nothing has come for a while is ended; one that goes on is left alone, and both have their own place.
    func awaitRivals(of offer: Offer, from peer: PeerID) async {
        let end = ContinuousClock.now + Self.rivalWait
        let first = rivals(of: offer, from: peer).map { $0.pulse.state.received }.max()
        guard let first else { return }
        while ContinuousClock.now < end, !Task.isCancelled {
            let rivals = rivals(of: offer, from: peer)
            if rivals.isEmpty { return }
            let states = rivals.map(\.pulse.state)
            if (states.map(\.received).max() ?? 0) > first + Self.buffered { return }
            for (rival, state) in zip(rivals, states) where state.last + Self.stalled < .now { rival.interrupt() }
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private static let rivalWait: Duration = .seconds(5)
    /// How long nothing has come on a connection that is given up for a new one.
    private static let stalled: Duration = .seconds(3)
    /// More than is on its way between a sender that is gone and our disk.
    private static let buffered: UInt64 = 64 << 20

    /// The offer without the items that seem to be here already.
    func coming(of offer: Offer, from peer: PeerID) -> Offer {
        let all = Verdict(all: .accepted, count: offer.items.count, digest: offer.digests.first ?? .xxh3_128)
        let known = recognising(offer, all, from: peer).items
        var coming = offer
        coming.items = zip(offer.items, known).filter { $0.1.present == nil }.map(\.0)
        return coming
    }

    /// Reads what is kept of the items of an accepted transfer whose contents have not begun, and sums it up.
    ///
    /// The transfer stands for as long as this takes, and for the usual time after it.
    /// - Parameter found: called for each file with its item's number; returns whether to go on.
    /// - Throws: `notAccepted`, as `begin`.
    package func readKept(
        of id: TransferID, from peer: PeerID, found: (Int, KeptFile) -> Bool
    ) throws(TransferFault) {
        guard let (offer, verdict) = holdOpen(id, from: peer, for: Self.keptReading) else {
            throw TransferFault(.notAccepted, "no accepted offer covers this transfer")
        }
        defer { _ = holdOpen(id, from: peer, for: Limits.contentsWait) }
        var goesOn = true
        for (number, item) in offer.items.enumerated() where goesOn && verdict.items[number].answer == .accepted {
            guard let key = PartialKey(item, from: peer) else { continue }
            inbox.readKept(key, verdict.digest) { file in
                goesOn = found(number, file)
                return goesOn
            }
        }
    }

    /// Longer than any disk takes to read what is kept.
    private static let keptReading: Duration = .seconds(86_400)
}

/// What has arrived of an item before, in whatever transfer, and seems to lie in the Inbox still.
package struct EarlierArrivals: Sendable {
    /// Arrivals of one item that are looked at, the latest first.
    private static let limit = 4

    private let inbox: any InboxStoring
    private let journal: any ArrivalJournal

    package init(inbox: any InboxStoring, journal: any ArrivalJournal) {
        self.inbox = inbox
        self.journal = journal
    }

    package func contain(_ item: OfferedItem, from peer: PeerID) -> Bool {
        latest(item, from: peer) != nil
    }

    package func latest(_ item: OfferedItem, from peer: PeerID) -> Arrival? {
        candidates(item, from: peer).first { inbox.seemsPresent($0) }
    }

    func latest(_ item: OfferedItem, from peer: PeerID, _ algorithm: DigestAlgorithm) -> Arrival? {
        candidates(item, from: peer).first { $0.digest.algorithm == algorithm && inbox.seemsPresent($0) }
    }

    /// The one that has this digest now; reads its contents.
    /// - Parameter transfer: whose arrivals do not count.
    func verified(
        _ item: OfferedItem, from peer: PeerID, _ digest: Digest, besides transfer: TransferID? = nil
    ) -> Arrival? {
        candidates(item, from: peer).first { arrival in
            arrival.digest == digest && arrival.transfer != transfer && inbox.seemsPresent(arrival)
                && (try? inbox.digest(of: arrival, digest.algorithm)) == digest
        }
    }

    /// The receipt for an item whose contents are in the Inbox, with the answer that its handlers gave when it came.
    func receipt(_ arrival: Arrival) -> ItemReceipt {
        let state = try? journal.deliveryState(of: arrival.number)
        return ItemReceipt(arrival, handler: HandlerAnswer((state ?? nil) ?? .none), isAlready: true)
    }

    private func candidates(_ item: OfferedItem, from peer: PeerID) -> [Arrival] {
        (try? journal.earlier(item, from: peer, limit: Self.limit)) ?? []
    }
}

/// How a transfer comes along.
final class TransferPulse: Sendable {
    /// How often those hear of it who show it. A tree has a hundred thousand small files, and nobody reads as fast.
    private static let tellingInterval: Duration = .milliseconds(50)

    private struct Current {
        var state: (received: UInt64, last: ContinuousClock.Instant) = (0, .now)
        var told: ContinuousClock.Instant?
    }

    private let current = Mutex(Current())

    var state: (received: UInt64, last: ContinuousClock.Instant) { current.withLock { $0.state } }

    /// Something has come.
    /// - Returns: whether it is to be told; always so for the first.
    func beat(_ received: UInt64, at now: ContinuousClock.Instant = .now) -> Bool {
        current.withLock { current in
            current.state = (received, now)
            if let told = current.told, now - told < Self.tellingInterval { return false }
            current.told = now
            return true
        }
    }
}

/// What makes an item the same as far as what is kept of it goes.
struct ItemLikeness: Hashable {
    private let kind: ItemKind
    private let name: SafeName
    private let type: UniformType

    init(_ item: OfferedItem) {
        (kind, name, type) = (item.kind, item.name, item.type)
    }
}
