import Digests
import TestSupport
import Testing

@testable import Sharing

/// The places where a digest stands instead of bytes, and a pair of files with one checksum.
@Suite("Contents that were made to have the checksum of others")
struct ForgedContentsTests {
    private let genuine = ForgedPair.genuine
    private let forged = ForgedPair.forged
    private let inbox = MemoryInbox()
    private let journal = MemoryJournal()

    private func offer() -> Offer { Offer.sample(items: 1, size: UInt64(ForgedPair.genuine.count)) }

    private func receive(_ bytes: [UInt8], _ offer: Offer) throws -> Arrival {
        let receiving = Receiving(offer, into: inbox, journal: journal)
        try receiving.sendItem(0, bytes)
        _ = try receiving.transfer.finish()
        return try #require(receiving.arrivals.all.first)
    }

    private func present(_ bytes: [UInt8], _ offer: Offer, earlier: [Arrival] = []) throws -> ItemReceipt {
        let transfer = IncomingTransfer(
            offer: offer, verdict: Verdict(all: .accepted, count: 1), peer: .sample(1),
            storage: ArrivalStorage(inbox, journal, isDelivered: { _ in false }), earlier: earlier, report: { _ in })
        try transfer.present(0, digest: .of(.lasting, bytes))
        return try transfer.finish().items[0]
    }

    @Test("an arrival has a digest that nobody can forge, and beside it the one that its sender knows")
    func arrival() throws {
        let (one, other) = (try receive(forged, offer()), try receive(genuine, offer()))
        #expect(one.digest == .of(.sha256, forged) && other.digest == .of(.sha256, genuine))
        #expect(one.sentDigest == other.sentDigest && one.sentDigest == .of(.xxh3_128, forged))
    }

    @Test("are not taken for the item that is there: neither for another transfer's nor for this one's")
    func present() throws {
        let first = offer()
        let arrival = try receive(forged, first)
        for receipt in [try present(genuine, offer()), try present(genuine, first, earlier: [arrival])] {
            guard case .failed(let fault) = receipt.outcome else {
                Issue.record("\(receipt)")
                return
            }
            #expect(fault.code == .notKept)
        }
        let there = ItemReceipt.Outcome.stored(
            name: "file-0", size: UInt64(forged.count), digest: .of(.lasting, forged))
        #expect(try present(forged, offer()).outcome == there)
        #expect(try present(forged, first, earlier: [arrival]).outcome == there)
    }

    @Test("are not taken for the item that is there by a checksum, which an older Waft recorded or sends")
    func checksum() throws {
        var arrival = try receive(forged, offer())
        (arrival.facts.digest, arrival.facts.sentDigest) = (.of(.xxh3_128, forged), nil)
        let old = MemoryJournal()
        arrival.number = try old.intend([IntendedArrival(facts: arrival.facts, identity: nil, isDelivered: false)])[0]
        try old.settle([(arrival.number, arrival.stored)])
        let arrivals = EarlierArrivals(inbox: inbox, journal: old)
        let item = arrival.item
        #expect(arrivals.verified(item, from: .sample(1), .of(.xxh3_128, genuine)) == nil)
        #expect(arrivals.verified(item, from: .sample(1), .of(.lasting, genuine)) == nil)
        #expect(arrivals.verified(item, from: .sample(1), .of(.lasting, forged)) == arrival)
    }

    @Test("come whole although the others came during the transfer: both are stored")
    func meanwhile() throws {
        let late = Receiving(offer(), into: inbox, journal: journal)
        _ = try receive(forged, offer())
        try late.sendItem(0, genuine)
        _ = try late.transfer.finish()
        #expect(inbox["file-0"]?.bytes == forged && inbox["file-0-1"]?.bytes == genuine)
    }

    @Test("a kept part and a consent are found by whole hashes of their peer and their item")
    func keys() throws {
        let item = offer().items[0]
        let one = try #require(PartialKey(item, from: .sample(1)))
        let other = try #require(PartialKey(item, from: .sample(2)))
        #expect(one.text.count == 128 && one.text.hasPrefix(PartialKey.owner(.sample(1))))
        #expect(PartialKey.owner(.sample(1)).count == 64)
        #expect(one.text.suffix(64) == other.text.suffix(64) && one.text != other.text)
        #expect(ConsentKey(offer(), from: .sample(1)).text.count == 64)
    }
}
