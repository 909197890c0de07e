import Digests
import Receiving
import Sharing
import TestSupport
import Testing

@testable import Operations

@Suite("The one transfer of --once", .timeLimit(.minutes(1)))
struct OnceWatchTests {
    private let offer = Offer.sample(items: 2)
    private let watch: OnceWatch
    private let rests = Recorder<ContinuousClock.Instant>()

    init() {
        watch = OnceWatch { [rests] in rests.record($0) }
    }

    /// A handler answers for an item.
    private func answer(_ item: Int, _ state: HandlerAnswer.State) throws {
        let arrival = Arrival(
            number: ArrivalNumber(Int64(item) + 1),
            facts: ArrivalFacts(
                transfer: offer.transfer, itemNumber: item, itemsInOffer: 2, item: offer.items[item], size: 5,
                digest: .of(.xxh3_128, []), peer: .sample(1), senderName: "study", annotation: [:],
                dialect: offer.dialect),
            stored: StoredItem(name: safe("a"), path: "/in/a"))
        watch.see(.reception(.opened(arrival, HandlerAnswer(state))))
    }

    /// The transfer ends with a receipt that has these answers of handlers, one for each item.
    private func end(_ handlers: HandlerAnswer.State...) {
        let items = handlers.map { state in
            ItemReceipt(.stored(name: "a", size: 5, digest: .of(.xxh3_128, [])), handler: HandlerAnswer(state))
        }
        watch.see(
            .reception(.ended(offer.transfer, from: .sample(1), Receipt(transfer: offer.transfer, items: items), nil)))
    }

    @Test("is over when the last handler has answered")
    func over() async throws {
        end(.pending, .none)
        try answer(0, .yes)
        await watch.wait()
    }

    @Test("gives its sender time to ask for answers that its receipt did not have, and none otherwise")
    func asking() async throws {
        let start = ContinuousClock.now
        end(.pending, .none)
        try answer(0, .yes)
        await watch.wait()
        #expect(rests.count == 1 && rests.all[0] > start)
        let other = OnceWatchTests()
        other.end(.none, .none)
        await other.watch.wait()
        #expect(other.rests.count == 0)
    }

    @Test("is over too if the last answer came before the end, and the receipt did not have it yet")
    func early() async throws {
        try answer(0, .yes)
        end(.pending, .none)
        await watch.wait()
    }

    @Test("is not over by two answers for one item while another item waits for its first")
    func twice() async throws {
        try answer(0, .later)
        end(.later, .pending)
        try answer(0, .yes)
        #expect(!watch.isOver)
        try answer(1, .yes)
        await watch.wait()
    }
}
