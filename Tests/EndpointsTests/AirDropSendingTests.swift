import Discovery
import Glibc
import HTTPChannel
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import SecureTransport
import Sharing
import TestSupport
import Testing

@testable import AirDropDialect
@testable import Endpoints

@Suite("A receiver of AirDrop's", .timeLimit(.minutes(1)))
struct AirDropSendingTests {
    @Test("that closes or resets the connection on which it was asked has declined", arguments: [false, true])
    func cutOff(resets: Bool) async throws {
        let receiver = StrictReceiver(resets: resets) { exchange in exchange.breakingOff() }
        let report = try await receiver.send()
        guard case .notAccepted(let verdict)? = report.items.first else {
            Issue.record("\(Array(report.items))")
            return
        }
        #expect(verdict.answer == .declined)
        #expect(receiver.asked.all == ["/Ask"])
    }

    @Test("that takes no folder gets an archive: the commands for it have the names of the folder and of the peer")
    func packing() {
        let folder = MemorySource.file("our trip", [], kind: .tree)
        #expect(
            AirDropEndpoint.packing(folder, for: "Anna’s iPhone")
                == "send an archive of it: zip -r 'our trip.zip' 'memory:our trip'; then: "
                + "waft send 'our trip.zip' --to 'Anna’s iPhone'")
    }

    @Test("that refuses the form of the contents is asked once more and gets the other form", arguments: [406, 415])
    func otherForm(status: Int) async throws {
        for flags in [AirDropFlags.own, .standard] {
            let receiver = StrictReceiver { exchange in
                let isFirst =
                    exchange.head.headers.first(name: "content-type")?.hasSuffix("dvzip") == flags.contains(.dvzip)
                try await exchange.finish(exchange.head.uri == "/Upload" && isFirst ? status : 200)
            }
            let report = try await receiver.send(flags: flags)
            guard case .acknowledged? = report.items.first else {
                Issue.record("\(Array(report.items))")
                continue
            }
            let forms = ["application/x-dvzip", "application/x-cpio"]
            let expected = flags.contains(.dvzip) ? forms : forms.reversed()
            #expect(receiver.asked.all == ["/Ask", "/Upload " + expected[0], "/Ask", "/Upload " + expected[1]])
        }
    }

    @Test("that refuses both forms is not asked a third time")
    func noForm() async throws {
        let receiver = StrictReceiver { try await $0.finish($0.head.uri == "/Upload" ? 406 : 200) }
        let failure = await #expect(throws: SendError.self) { _ = try await receiver.send() }
        #expect(failure?.description.contains("406") == true)
        #expect(receiver.asked.all.count == 4)
    }

    @Test("without room, or refusing the contents, has a fault of its own")
    func statuses() async throws {
        for (status, code) in [(507, TransferError.Code.noRoom), (401, .notAccepted), (500, .storage)] {
            let receiver = StrictReceiver { try await $0.finish($0.head.uri == "/Upload" ? status : 200) }
            guard case .lost(let fault)? = try await receiver.send().items.first else {
                Issue.record("\(status)")
                continue
            }
            #expect(fault.code == code)
        }
    }

    @Test("that is one of Waft is not shown a second time, and its TXT record has the flags alone")
    func own() async throws {
        #expect(AirDropDialect.txt(.own).keys.sorted() == ["flags"])
        let ours = StrictReceiver { exchange in
            try await exchange.finish(
                200, try AirDropMessage.showing(AirDropCard(name: "kitchen", model: "x")).encoded())
        }
        let mac = StrictReceiver { exchange in
            let card = AirDropCard(name: "Mac", model: "MacBookPro18,3")
            try await exchange.finish(200, try AirDropMessage.accepting(card).encoded())
        }
        try await ours.run { first in
            try await mac.run { second in
                let directory = KnownServices()
                let (events, feed) = AsyncStream<PeerEvent>.makeStream()
                let endpoint = StrictReceiver.endpoint(with: directory)
                let search = Task { await endpoint.search(feed, isWatched: true) }
                defer { search.cancel() }
                try directory.show("a", at: first)
                _ = try await ours.answered.first()
                try directory.show("b", at: second)
                for await case .found(let peer) in events {
                    #expect(peer.card?.name == "Mac")
                    break
                }
            }
        }
        #expect(ours.asked.all == ["/Discover"])
    }
}
