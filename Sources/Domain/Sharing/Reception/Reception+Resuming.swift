import Digests
private import Synchronization
import UniformTypes

extension Reception {
    /// Adds to a verdict the accepted items that are already here: whole ones in the Inbox, and kept parts of
    /// interrupted attempts. Reads the disk and the journal.
    func recognising(_ offer: Offer, _ verdict: Verdict, from peer: PeerID) -> Verdict {
        guard verdict.acceptsAnything else { return verdict }
        var verdict = verdict
        let stored = (try? journal.arrivals(of: offer.transfer, from: peer)) ?? []
        let ofTransfer = Dictionary(stored.map { ($0.itemNumber, $0) }) { _, later in later }
        for (number, item) in offer.items.enumerated() where verdict.items[number].answer == .accepted {
            let protection = verdict.items[number].destination.protection ?? .none
            guard let key = PartialKey(item, from: peer, protection: protection) else { continue }
            if let arrival = ofTransfer[number], arrival.item == item,
                let digest = inbox.contentDigests(of: arrival)?.sent, digest.algorithm == verdict.digest
            {
                // This transfer has stored it, even if it has left the Inbox since.
                verdict.items[number].present = digest
            } else if offer.dialect.givesReceipts {
                verdict.items[number].present =
                    EarlierArrivals(inbox: inbox, journal: journal).latestDigest(item, from: peer, verdict.digest)
            }
            verdict.items[number].hasKept = inbox.hasKept(key)
        }
        return verdict
    }

    /// Waits a moment for ending transfers of the same items by the same peer: a killed sender that is started again at
    /// once finds its earlier contents only after they have been kept. A rival without new data for a while is ended.
    /// An active one continues, and each has its own place.
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
    /// Time without data after which a connection is given up for a new one.
    private static let stalled: Duration = .seconds(3)
    /// More bytes than can be in transit between a lost sender and our disk.
    private static let buffered: UInt64 = 64 << 20

    /// The offer without the items that seem to be here already. One that may be sent again counts as an empty file, as
    /// the journal counts it.
    func coming(of offer: Offer, from peer: PeerID) -> Offer {
        // As the journal has the items.
        let offer = offer.bare()
        let all = Verdict(all: .accepted, count: offer.items.count, digest: offer.digests.first ?? .xxh3_128)
        let known = recognising(offer, all, from: peer).items
        if known.allSatisfy({ $0.present == nil }) { return offer }
        let mayCall = offer.asksHandlers || !SourceApplication.removed(from: offer.annotation).isEmpty
        var coming = offer
        coming.items = offer.items.indices.compactMap { number in
            var item = offer.items[number]
            if known[number].present == nil { return item }
            (item.size, item.entries) = (0, 1)
            return mayCall ? item : nil
        }
        return coming
    }

    /// Reads the kept files of an accepted transfer whose contents have not begun, and computes their digests.
    ///
    /// The transfer stands for as long as this takes, and for the usual time after it.
    /// - Parameter found: called for each file with its item's number; returns whether to continue.
    /// - Throws: `notAccepted`, as `begin`.
    package func readKept(
        of id: TransferID, from peer: PeerID, found: (Int, KeptFile) -> Bool
    ) throws(TransferError) {
        guard let (offer, verdict) = holdOpen(id, from: peer, for: Self.keptReading) else {
            throw TransferError(.notAccepted, "no accepted offer covers this transfer")
        }
        defer { _ = holdOpen(id, from: peer, for: Limits.contentsWait) }
        var goesOn = true
        for (number, item) in offer.items.enumerated() where goesOn && verdict.items[number].answer == .accepted {
            let protection = verdict.items[number].destination.protection ?? .none
            guard let key = PartialKey(item, from: peer, protection: protection) else { continue }
            inbox.readKept(key, .lasting) { file in
                goesOn = found(number, file)
                return goesOn
            }
        }
    }

    /// Longer than any disk takes to read the kept parts.
    private static let keptReading: Duration = .seconds(86_400)
}

/// The progress of a transfer.
final class TransferPulse: Sendable {
    /// Interval of progress events. A tree may have a hundred thousand small files, too many to show each one.
    private static let tellingInterval: Duration = .milliseconds(50)

    private struct Current {
        var state: (received: UInt64, last: ContinuousClock.Instant) = (0, .now)
        var told: ContinuousClock.Instant?
    }

    private let current = Mutex(Current())

    var state: (received: UInt64, last: ContinuousClock.Instant) { current.withLock { $0.state } }

    /// Contents have arrived.
    /// - Returns: whether to report it; always true for the first.
    func beat(_ received: UInt64, at now: ContinuousClock.Instant = .now) -> Bool {
        current.withLock { current in
            current.state = (received, now)
            if let told = current.told, now - told < Self.tellingInterval { return false }
            current.told = now
            return true
        }
    }
}

/// Two items with equal properties share their kept parts.
struct ItemLikeness: Hashable {
    private let kind: ItemKind
    private let name: SafeName
    private let type: UniformType

    init(_ item: OfferedItem) {
        (kind, name, type) = (item.kind, item.name, item.type)
    }
}
