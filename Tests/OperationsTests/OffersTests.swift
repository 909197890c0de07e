import Control
import Lines
import Sharing
import TestSupport
import Testing

@testable import Operations

private let sender = Introduction(contact: "anna", key: PeerID.sample(1).short)

private let transfer = TransferID()

private func line(_ number: Int, items: Int = 1) -> OfferLine {
    let offer = Offer.sample(items: items, transfer: transfer)
    return OfferLine(
        WaitingOffer(
            number: number, offer: offer, peer: .sample(1), freeRoom: 9, expires: WallTime(milliseconds: 9_000)),
        sender)
}

@Suite("Offers as operations")
struct OffersTests {
    private func failure(_ body: () async throws(WaftError) -> Void) async -> WaftError? {
        do throws(WaftError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test("the offers that wait are those of the receiver, and another number is none of them")
    func list() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let offers = kitchen.waft.offers
        try await kitchen.withReceiver { request in
            request == .offers ? .offers([line(1), line(3)]) : .refused("no")
        } _: {
            let numbers = try await offers.all().map(\.offer)
            #expect(numbers == [1, 3])
            let third = try await offers.offer(3)
            #expect(third == line(3))
            let other = await failure { () throws(WaftError) in _ = try await offers.offer(2) }
            #expect(other?.code == .inputMissing && other?.reason == "no offer 2 waits for an answer")
        }
    }

    @Test("a whole offer has the items that are not listed with others")
    func whole() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let offers = kitchen.waft.offers
        let many = Offer.sample(items: 1_250)
        let asked = Recorder<ControlRequest>()
        try await kitchen.withReceiver { request in
            asked.record(request)
            switch request {
            case .offers: return .offers([line(1, items: 1_250), line(2, items: 101)])
            case .items(offer: 1, let first):
                let page = many.items.indices.dropFirst(first).prefix(ControlRequest.itemsPerPage)
                return .items(page.map { ItemFields($0, many.items[$0]) })
            default: return .items([])
            }
        } _: {
            let offer = try await offers.whole(1)
            #expect(offer.items.map(\.item) == Array(0..<1_250))
            let endless = await failure { () throws(WaftError) in _ = try await offers.whole(2) }
            #expect(endless?.code == .unexpected)
        }
        #expect(asked.all.prefix(3) == [.offers, .items(offer: 1, from: 100), .items(offer: 1, from: 1_100)])
    }

    @Test("a yes to everything, to some items, or into a folder is one request and one line")
    func accepting() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let offers = kitchen.waft.offers
        let present = AcceptedLine(
            offer: 1, items: [0], folder: "Trip", present: [.init(name: "a", arrival: 7, stored: "a")])
        let asked = Recorder<ControlRequest>()
        try await kitchen.withReceiver { request in
            asked.record(request)
            return if case .acceptItems(_, _, "Trip") = request { .accepted(present) } else { .done }
        } _: {
            let all = try await offers.accept(1)
            #expect(all == AcceptedLine(offer: 1))
            let some = try await offers.accept(1, items: [0, 2, 2])
            #expect(some.acceptedCount == 2 && some.present == nil)
            let placed = try await offers.accept(1, items: [0], into: "Trip")
            #expect(placed == present)
        }
        #expect(
            asked.all == [
                .answer(offer: 1, accept: true), .acceptItems(offer: 1, items: [0, 2, 2], folder: nil),
                .acceptItems(offer: 1, items: [0], folder: "Trip"),
            ])
    }

    @Test("a no may block the sender")
    func declining() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let offers = kitchen.waft.offers
        let asked = Recorder<ControlRequest>()
        try await kitchen.withReceiver { request in
            asked.record(request)
            return .done
        } _: {
            let declined = try await offers.decline(1)
            let blocked = try await offers.decline(2, block: true)
            #expect(!declined.blocked && blocked.blocked && blocked.offer == 2)
        }
        #expect(asked.all == [.answer(offer: 1, accept: false), .block(offer: 2)])
    }

    @Test(
        "what the receiver does not know or refuses is a failure with its words",
        arguments: [
            (ControlReply.unknown("no offer 1 waits for an answer"), WaftExit.inputMissing, "see: waft offers"),
            (.refused("that is not a folder below the Inbox"), .usage, nil),
            (.watching, .unexpected, nil),
        ] as [(ControlReply, WaftExit, String?)])
    func refusals(reply: ControlReply, code: WaftExit, hint: String?) async throws {
        let kitchen = try Kitchen(jobs: 0)
        let offers = kitchen.waft.offers
        try await kitchen.withReceiver { _ in
            reply
        } _: {
            let failures = [
                await failure { () throws(WaftError) in _ = try await offers.accept(1) },
                await failure { () throws(WaftError) in _ = try await offers.accept(1, into: "x") },
                await failure { () throws(WaftError) in _ = try await offers.decline(1) },
            ]
            #expect(failures.allSatisfy { $0?.code == code && $0?.hint == hint })
        }
    }

    @Test("the preview of an item comes with its size in pixels, and only while its offer waits")
    func preview() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let offers = kitchen.waft.offers
        var offer = Offer.sample()
        offer.items[0].preview = ItemPreview(PreviewSample.png(3, 2))
        let shown = try #require(OfferPreviewLine(1, offer, item: 0))
        try await kitchen.withReceiver { request in
            request == .preview(offer: 1, item: 0) ? .preview(shown) : .unknown("offer 1 has no item 2")
        } _: {
            let preview = try await offers.preview(1, item: 0)
            #expect(preview == shown && preview.pixelWidth == 3 && preview.pixelHeight == 2)
            #expect(Array(preview.data) == PreviewSample.png(3, 2))
            let none = await failure { () throws(WaftError) in _ = try await offers.preview(1, item: 1) }
            #expect(none == WaftError(.inputMissing, "offer 1 has no item 2", hint: "see: waft offers"))
        }
        #expect(OfferPreviewLine(1, offer, item: 1) == nil && OfferPreviewLine(1, .sample(), item: 0) == nil)
    }

    @Test("without a receiver no offer waits, and the code says that none is running")
    func noReceiver() async throws {
        let offers = try Kitchen(jobs: 0).waft.offers
        let failure = await failure { () throws(WaftError) in _ = try await offers.all() }
        #expect(failure?.code == .notRunning)
    }
}
