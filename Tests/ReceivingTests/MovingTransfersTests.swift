import Lines
import Sharing
import TestSupport
import Testing

@testable import Receiving

@Suite("The transfers that move")
struct MovingTransfersTests {
    private let friend = PeerID.sample(1)
    private let start = ContinuousClock.now
    private let moving = MovingTransfers { peer, name in
        peer == .sample(1) ? Introduction(contact: "anna", key: peer.short) : .stranger(name, peer)
    }

    private func list(_ accepted: [(Offer, PeerID)] = [], after seconds: Int) -> [MovingLine] {
        moving.all(accepted: accepted.map { (offer: $0.0, peer: $0.1) }, at: start + .seconds(seconds))
    }

    private func sending(_ bytes: UInt64, of offer: Offer) -> MovingLine {
        var transfer = MovingLine(sending: offer, to: "nas")
        (transfer.bytes, transfer.total) = (bytes, 1_000)
        return transfer
    }

    @Test("one that arrives has its sender, its item, its bytes and its speed, from the acceptance to its end")
    func arriving() throws {
        let offer = Offer.sample(items: 2)
        let accepted = try #require(list([(offer, friend)], after: 0).first)
        #expect(accepted.from?.name == offer.senderName && accepted.from?.contact == "anna" && accepted.count == 2)
        #expect(accepted.name == offer.items[0].name.text && accepted.bytes == nil)
        moving.hear(.began(offer, from: friend), at: start)
        moving.hear(.progressed(offer.transfer, from: friend, received: 100, of: 1_000), at: start)
        moving.hear(.progressed(offer.transfer, from: friend, received: 300, of: 1_000), at: start + .seconds(2))
        moving.passesOn(offer.transfer, to: friend)
        let half = try #require(list([(offer, friend)], after: 2).first)
        #expect(half.bytes == 300 && half.total == 1_000 && half.rate == 100 && half.relaying?.contact == "anna")
        #expect(list([(offer, friend)], after: 60).first?.rate == nil, "it stands still")
        moving.hear(
            .ended(offer.transfer, from: friend, Receipt(transfer: offer.transfer, items: []), nil),
            at: start + .seconds(60))
        let ended = try #require(list(after: 61).first)
        #expect(ended.isOver && ended.reason == nil)
        #expect(list(after: 66).isEmpty)
    }

    @Test("a sending of another program is there as long as it reports, and hears of its cancel with a report")
    func reported() throws {
        let offer = Offer.sample()
        #expect(!moving.reported(sending(10, of: offer), at: start))
        #expect(list(after: 4).map(\.bytes) == [10])
        #expect(!moving.reported(sending(20, of: offer), at: start + .seconds(4)))
        #expect(list(after: 8).map(\.bytes) == [20])
        #expect(moving.cancel(offer.transfer.text) && !moving.cancel("another"))
        #expect(moving.reported(sending(30, of: offer), at: start + .seconds(8)))
        #expect(list(after: 14).isEmpty)
    }

    @Test("an unknown total is none, and a stranger has no contact's name")
    func unknown() {
        let offer = Offer.sample()
        moving.hear(.began(offer, from: .sample(2)), at: start)
        moving.hear(.progressed(offer.transfer, from: .sample(2), received: 5, of: 0), at: start)
        #expect(list(after: 0).map(\.total) == [nil] && list(after: 0).map(\.from?.contact) == [nil])
    }
}
