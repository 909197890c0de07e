import Sharing
import TestSupport
import Testing

@Suite("The amount of a day", .timeLimit(.minutes(1)))
struct ReceptionDayTests {
    private struct Amounts: AmountReading {
        var bytes: UInt64?

        func received(from sender: AmountSender, on day: Day) throws(JournalError) -> UInt64 {
            guard let bytes else { throw JournalError("no") }
            return bytes
        }
    }

    private func amount(
        _ receiver: Receiver, _ offer: Offer, from peer: PeerID = Receiver.peer, received: UInt64? = 100
    ) -> UInt64? {
        receiver.reception.amountOfDay(with: offer, from: peer, at: WallTime(milliseconds: 0), Amounts(bytes: received))
    }

    @Test("is the sum of stored, current and offered items, each once")
    func sum() async throws {
        let receiver = Receiver()
        let (first, second) = (Offer.sample(items: 2), Offer.sample())
        #expect(amount(receiver, first) == 110)
        #expect(await receiver.judge(first) == [.accepted, .accepted])
        #expect(amount(receiver, second) == 115)
        // Offered again it does not count twice.
        #expect(amount(receiver, first) == 110)
        #expect(amount(receiver, second, from: Receiver.other) == 105)
        let (transfer, receipt) = try receiver.contents(of: first)
        receiver.reception.end(transfer, receipt, fault: nil)
        // Items that are stored already do not come again, in this offer or in another.
        #expect(amount(receiver, first) == 100)
        #expect(amount(receiver, second) == 100)
        #expect(amount(receiver, second, from: Receiver.other) == 105)
    }

    @Test("the day's amount of a peer without a key is that of all such peers")
    func airdrop() async {
        let receiver = Receiver()
        var offer = Offer.sample()
        offer.dialect = .keyless
        _ = await receiver.judge(offer, from: .unproven(.keyless))
        var other = Offer.sample()
        #expect(amount(receiver, other) == 105)
        other.dialect = .keyless
        #expect(amount(receiver, other, from: .unproven(.keyless)) == 110)
    }

    @Test("is not known where the journal cannot be read, and does not overflow")
    func limits() {
        #expect(amount(Receiver(), .sample(), received: nil) == nil)
        #expect(amount(Receiver(), .sample(), received: .max) == .max)
    }
}
