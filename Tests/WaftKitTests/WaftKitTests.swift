import Foundation
import Testing
import WaftKit

@Suite("The library for programs of others", .timeLimit(.minutes(1)))
struct WaftKitTests {
    private let kitchen = TestReceiver(name: "kitchen")
    private let study = TestReceiver(name: "study")

    /// Sends from the study.
    private func sent(
        _ items: [Item.Source], to address: String, at home: String
    ) async -> (events: [TransferEvent], error: WaftError?) {
        var events: [TransferEvent] = []
        do {
            for try await event in try Waft(home: home).send(items, to: address) { events.append(event) }
            return (events, nil)
        } catch {
            return (events, error)
        }
    }

    /// Answers the first offer that waits.
    private func answerFirst(_ waft: Waft, _ answer: Offer.Answer) async throws -> Offer? {
        for try await offers in waft.offers() {
            guard let offer = offers.first else { continue }
            try await waft.answer(offer, answer)
            return offer
        }
        return nil
    }

    @Test("a part of an offer is accepted, and the sender hears which")
    func part() async throws {
        let (home, other) = (kitchen.home, study.home)
        try await kitchen.running { address in
            async let sending = sent([.text("hello"), .url("https://example.com/")], to: address, at: other)
            let offer = try await answerFirst(try Waft(home: home), .acceptItems([0]))
            #expect(offer?.count == 2 && offer?.items.first?.size == 5 && offer?.from.contact == nil)
            let (events, error) = await sending
            #expect(events.contains(.offered) && error?.code == .declined, "\(events) \(String(describing: error))")
        }
    }

    @Test("everything is there at the end of a sending, and the Inbox lists it without a receiver")
    func accepted() async throws {
        let (home, other) = (kitchen.home, study.home)
        try await kitchen.running { address in
            let waft = try Waft(home: home)
            async let arrival = waft.arrivals().first { _ in true }
            async let sending = sent([.text("hello")], to: address, at: other)
            _ = try await answerFirst(waft, .accept)
            let (events, error) = await sending
            #expect(error == nil && events.last.map { if case .stored = $0 { true } else { false } } == true)
            let path = try #require(try await arrival?.path)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "hello")
        }
        #expect(try await Waft(home: home).inbox().map(\.size) == [5])
    }

    @Test("cancelling the task that reads the events withdraws the offer")
    func cancelled() async throws {
        let (home, other) = (kitchen.home, study.home)
        try await kitchen.running { address in
            let sending = Task { await sent([.text("hello")], to: address, at: other) }
            var seen = 0
            for try await offers in try Waft(home: home).offers() {
                if !offers.isEmpty { sending.cancel() }
                if offers.isEmpty, seen > 0 { break }
                seen += offers.count
            }
            #expect(await sending.value.error?.code == .interrupted)
        }
    }

    @Test("without a receiver, and for a peer that is none, there are errors with codes")
    func refusals() async throws {
        let waft = try Waft(home: kitchen.home)
        await #expect(throws: WaftError.self) { for try await _ in waft.offers() {} }
        #expect(await sent([.text("a")], to: "kitchen:0", at: kitchen.home).error?.code == .usage)
        #expect(await sent([.file("/nowhere")], to: "127.0.0.1:1", at: kitchen.home).error?.code == .inputMissing)
        #expect(await sent([], to: "127.0.0.1:1", at: kitchen.home).error?.code == .usage)
    }
}
