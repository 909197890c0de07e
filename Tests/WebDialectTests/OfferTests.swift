import Dispatch
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import Synchronization
import TestSupport
import Testing
import UniformTypes

@testable import WebDialect

@Suite("Offers of guests", .timeLimit(.minutes(1)))
struct OfferTests {
    @Test("a file comes in pieces, and is stored with the last one")
    func pieces() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let offer = try await guest.offer(("a.txt", 10))
            let (_, first) = try await guest.put("hello", file: 0, of: offer)
            #expect((first.offset, first.state) == (5, "coming"))
            let (status, last) = try await guest.put("world", at: 5, file: 0, of: offer)
            #expect(status == 200)
            #expect((last.offset, last.state, last.stored) == (10, "stored", "a.txt"))
            #expect(page.inbox["a.txt"]?.bytes == Array("helloworld".utf8))
            let report = try await guest.report(of: offer) { $0.state == "done" }
            #expect(report.items[0].stored == "a.txt")
            #expect(page.consent.asked.all.first?.offer.senderName == "Anna")
            #expect(page.consent.asked.all.first?.peer.unprovenBy == .web)
        }
    }

    @Test("a piece at another place is answered with 409 and the offset, and the last answer is given again")
    func offsets() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let offer = try await guest.offer(("a", 10), ("b", 1))
            let early = try await guest.put("world", at: 5, file: 0, of: offer)
            #expect(early.0 == 409)
            #expect(early.1.offset == 0)
            _ = try await guest.put("hello", file: 0, of: offer)
            let again = try await guest.put("hello", file: 0, of: offer)
            #expect((again.0, again.1.offset) == (409, 5))
            _ = try await guest.put("world", at: 5, file: 0, of: offer)
            let after = try await guest.put("", at: 10, file: 0, of: offer)
            #expect((after.0, after.1.state) == (200, "stored"))
            #expect(try await guest.put("world", at: 5, file: 0, of: offer).0 == 409)
        }
    }

    @Test("a connection that breaks off loses nothing that has come")
    func cut() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let offer = try await guest.offer(("a", 10))
            try await RawGuest.run(page.port) { raw in
                try await raw.write(
                    "PUT \(guest.path("/offers/\(offer)/files/0?offset=0")) HTTP/1.1\r\nhost: \(page.host)\r\ncookie: \(guest.cookie)\r\n"
                        + "content-length: 10\r\n\r\nhel")
                var offset = 0
                while offset < 3 {
                    await Task.yield()
                    offset = try await guest.report(of: offer).files[0].offset
                }
            }
            let (status, piece) = try await guest.put("loworld", at: 3, file: 0, of: offer)
            #expect(status == 200)
            #expect(piece.state == "stored")
            #expect(page.inbox["a"]?.bytes == Array("helloworld".utf8))
        }
    }

    @Test("an offer that its guest cancels while its transfer is being opened leaves no transfer behind")
    func cancelledEarly() async throws {
        let (staging, goOn) = (Gate(), DispatchSemaphore(value: 0))
        let inbox = MemoryInbox { operation in
            guard case .stage = operation else { return nil }
            staging.open()
            goOn.wait()
            return nil
        }
        let reception = Reception(
            inbox: inbox, journal: MemoryJournal(), gate: ScriptedGate(), consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(.none), observe: { _ in })
        let question = GuestQuestion(name: "Anna", items: [.init(text: "hello"), .init(name: "a", size: 1)])
        let (guest, ended) = (Guest(token: "t"), Recorder<Void>())
        let hour = Duration.seconds(3_600)
        let offer = GuestOffer(
            try GuestItems(question, registry: .system), of: guest, reception,
            waits: .init(asking: hour, piece: hour, turn: hour), ended: { ended.record(()) })
        offer.start(Visitor(guest.peer), on: disk)
        await staging.wait()
        let closing = Task { await offer.close(.cancelled, .senderCancelled) }
        while offer.state.withLock({ $0.fault == nil }) { await Task.yield() }
        goOn.signal()
        await closing.value
        while offer.state.withLock({ $0.contents == nil }) { await Task.yield() }
        #expect(offer.report.state == .cancelled)
        #expect(reception.underWay.isEmpty)
        #expect(ended.count == 1)
    }

    @Test("a new request for a file ends the one that its guest has lost")
    func takeover() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let offer = try await guest.offer(("a", 10))
            try await RawGuest.run(page.port) { raw in
                try await raw.write(
                    "PUT \(guest.path("/offers/\(offer)/files/0?offset=0")) HTTP/1.1\r\nhost: \(page.host)\r\ncookie: \(guest.cookie)\r\n"
                        + "content-length: 10\r\n\r\nhel")
                var offset = 0
                while offset < 3 {
                    await Task.yield()
                    offset = try await guest.report(of: offer).files[0].offset
                }
                #expect(try await guest.put("loworld", at: 3, file: 0, of: offer).1.state == "stored")
                #expect(try await raw.readToEnd().isEmpty)
            }
        }
    }

    @Test("files of a folder are one item, also when their pieces and files come at the same time")
    func tree() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let offer = try await guest.offer(("trip/a", 5), ("trip/sub/b", 5), ("c", 0))
            async let a = guest.put("hello", file: 0, of: offer)
            async let b = guest.put("world", file: 1, of: offer)
            async let c = guest.put("", file: 2, of: offer)
            #expect(try await [a.1.state, b.1.state, c.1.state] == ["stored", "stored", "stored"])
            let report = try await guest.report(of: offer) { $0.state == "done" }
            #expect(report.items.map(\.stored) == ["trip", "c"])
            #expect(report.items[0].kind == "tree")
            #expect(report.files.map(\.item) == [0, 0, 1])
            #expect(page.inbox["trip"]?.entries["sub/b"]?.bytes == Array("world".utf8))
        }
    }

    @Test("a file that nobody continues gives way to the next one, and begins again")
    func lostTurn() async throws {
        var waits = WebServer.Waits()
        waits.turn = .milliseconds(20)
        try await WebLoopback.run(waits: waits) { page async throws in
            let guest = try await page.enter()
            let offer = try await guest.offer(("a", 10), ("b", 1))
            _ = try await guest.put("hello", file: 0, of: offer)
            #expect(try await guest.put("x", file: 1, of: offer).1.state == "stored")
            let late = try await guest.put("world", at: 5, file: 0, of: offer)
            #expect((late.0, late.1.offset) == (409, 0))
            #expect(try await guest.put("helloworld", file: 0, of: offer).1.state == "stored")
            #expect(page.inbox.names.sorted() == ["a", "b"])
        }
    }

    @Test("texts and links come with the question")
    func texts() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let answer = try await guest.ask(#"{"items":[{"text":"hello you"},{"url":"https://example.org/"}]}"#)
            #expect(answer.code == 201)
            let id = try answer.json(WebGuest.Ticket.self).offer
            let report = try await guest.report(of: id) { $0.state == "done" }
            #expect(report.items.map(\.kind) == ["text", "url"])
            #expect(report.items.allSatisfy { $0.stored != nil })
            #expect(page.inbox.stored.count == 2)
        }
    }

    @Test("a declined offer takes no file, and an item that is not eligible has its answer at once")
    func refused() async throws {
        try await WebLoopback.run(.later, refusal: { $0.name.text == "bad" ? "no bad things" : nil }) {
            page async throws in
            let guest = try await page.enter()
            let answer = try await guest.ask(#"{"items":[{"name":"bad","size":1},{"name":"good","size":1}]}"#)
            let ticket = try answer.json(WebGuest.Ticket.self)
            #expect(ticket.items.map(\.answer) == ["ineligible", nil])
            #expect(ticket.items[0].reason == "no bad things")
            _ = try await page.consent.asked.first()
            page.consent.answer(accept: false)
            let report = try await guest.report(of: ticket.offer) { $0.state == "done" }
            #expect(report.items.map(\.answer) == ["ineligible", "declined"])
            #expect(try await guest.put("x", file: 1, of: ticket.offer).0 == 403)
            #expect(page.inbox.everStagedCount == 0)
        }
    }

    @Test("a question is held until it is answered")
    func held() async throws {
        try await WebLoopback.run(.later) { page async throws in
            let guest = try await page.enter()
            let id = try await guest.ask(#"{"items":[{"name":"a","size":1}]}"#).json(WebGuest.Ticket.self).offer
            let first = try await guest.report(of: id)
            #expect(first.state == "waiting")
            async let held = guest.get("/offers/\(id)?wait=25&after=\(first.version)").json(WebGuest.Report.self)
            _ = try await page.consent.asked.first()
            page.consent.answer(accept: true)
            #expect(try await held.version != first.version)
            #expect(try await guest.report(of: id) { $0.state == "answered" }.items[0].answer == "accepted")
        }
    }

    @Test("an offer whose guest has left is withdrawn, and an accepted one keeps what is whole")
    func left() async throws {
        var waits = WebServer.Waits()
        waits.asking = .milliseconds(30)
        try await WebLoopback.run(.never, waits: waits) { page async throws in
            let guest = try await page.enter()
            _ = try await guest.ask(#"{"items":[{"name":"a","size":1}]}"#)
            _ = try await page.consent.withdrawn.first()
        }
        // A busy machine sends the first file within this time. The offer looks after its guest that often, too.
        waits = WebServer.Waits()
        (waits.asking, waits.piece) = (.seconds(4), .seconds(4))
        try await WebLoopback.run(waits: waits) { page async throws in
            let guest = try await page.enter()
            let id = try await guest.offer(("t/a", 1), ("t/b", 1))
            _ = try await guest.put("x", file: 0, of: id)
            _ = try await page.events.first { if case .ended = $0 { true } else { false } }
            #expect(page.inbox.names == ["t (incomplete)"])
            #expect(try await guest.put("x", file: 1, of: id).0 == 410)
            #expect(page.inbox.stagedCount == 0)
        }
    }

    @Test("a guest can cancel, and the host can close, while files come")
    func cancel() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let id = try await guest.offer(("a", 10), ("b", 1))
            _ = try await guest.put("hello", file: 0, of: id)
            #expect(try await guest.send(.POST, "/offers/\(id)/cancel", [:], "").code == 200)
            let report = try await guest.report(of: id)
            #expect((report.state, report.cause) == ("cancelled", "senderCancelled"))
            #expect(page.inbox.stagedCount == 0)
            let other = try await guest.offer(("c", 10))
            _ = try await guest.put("hello", file: 0, of: other)
            await page.server.close()
            #expect(page.inbox.stagedCount == 0)
            #expect(page.reception.openTransfers == 0)
        }
    }

    @Test(
        "an offer of a guest that ends while the host is asked has the cause of its end", arguments: EndCause.allCases)
    func cause(_ cause: EndCause) async throws {
        let (consent, events) = (ScriptedConsent(.never), Recorder<EndCause?>())
        let reception = Reception(
            inbox: MemoryInbox(), journal: MemoryJournal(), gate: ScriptedGate(), consent: consent,
            delivery: RecordingDelivery(.none),
            observe: { if case .judged(_, let verdict, _) = $0 { events.record(verdict.items.first?.cause) } })
        let (guest, hour) = (Guest(token: "t"), Duration.seconds(3_600))
        let offer = GuestOffer(
            try GuestItems(GuestQuestion(name: "Anna", items: [.init(name: "a", size: 1)]), registry: .system),
            of: guest, reception, waits: .init(asking: hour, piece: hour, turn: hour))
        offer.start(Visitor(guest.peer), on: disk)
        _ = try await consent.asked.first()
        await offer.close(.cancelled, TransferError(ending: cause))
        #expect(try await events.first { _ in true } == cause)
        #expect(offer.report.cause == cause)
        // Only a guest that cancelled is told so.
        #expect(offer.report.state == (cause == .senderCancelled ? .cancelled : .gone))
    }

    @Test("another guest sees and touches nothing of an offer")
    func strangers() async throws {
        try await WebLoopback.run { page async throws in
            let id = try await page.enter().offer(("a", 1))
            let other = try await page.enter()
            #expect(try await other.get("/offers/\(id)").code == 404)
            #expect(try await other.send(.PUT, "/offers/\(id)/files/0?offset=0", [:], "x").code == 404)
            #expect(try await other.send(.POST, "/offers/\(id)/cancel", [:], "").code == 404)
            #expect(page.inbox.stored.isEmpty)
        }
    }

    @Test("more bytes than were offered fail the file, and nothing of it stays")
    func tooMuch() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let id = try await guest.offer(("a", 3), ("b", 1))
            let (status, piece) = try await guest.put("hello", file: 0, of: id)
            #expect((status, piece.state) == (200, "failed"))
            #expect(try await guest.put("x", file: 1, of: id).1.state == "stored")
            #expect(page.inbox.names == ["b"])
            #expect(try await guest.report(of: id) { $0.state == "done" }.items[0].failed != nil)
        }
    }

    @Test(
        "a question that is none is refused with 400",
        arguments: [
            "", "{}", "[]", #"{"items":[]}"#, #"{"items":[{}]}"#, #"{"items":[{"name":"a"}]}"#,
            #"{"items":[{"name":"../a","size":1}]}"#, #"{"items":[{"name":"/a","size":1}]}"#,
            #"{"items":[{"name":"t/a","size":1},{"name":"t/a","size":1}]}"#, #"{"items":[{"name":"a","size":-1}]}"#,
            #"{"items":[{"name":"a","size":18446744073709551615}]}"#, #"{"items":[{"text":""}]}"#,
        ])
    func nonsense(_ json: String) async throws {
        try await WebLoopback.run { page async throws in
            let answer = try await page.enter().ask(json)
            #expect(answer.code == 400)
            #expect(page.consent.asked.all.isEmpty)
        }
    }

    @Test("a question that is too large, of another type, or one too many is refused")
    func bounds() async throws {
        try await WebLoopback.run { page async throws in
            let guest = try await page.enter()
            let long = String(repeating: " ", count: WebLimits.questionBytes + 1)
            #expect(try await guest.ask(long).code == 413)
            #expect(try await guest.send(.POST, "/offers", ["content-type": "text/plain"], "{}").code == 415)
            for number in 1...WebLimits.openOffers { _ = try await guest.offer(("a\(number)", 1)) }
            #expect(try await guest.ask(#"{"items":[{"name":"a","size":1}]}"#).code == 429)
        }
    }

    @Test("a session that takes nothing takes nothing in any way")
    func takesNothing() async throws {
        try await WebLoopback.run(.accept, WebSession(takes: false, isPlain: true)) { page async throws in
            let guest = try await page.enter()
            #expect(try await guest.ask(#"{"items":[{"text":"a"}]}"#).code == 403)
            #expect(
                try await guest.send(.POST, "/upload", ["content-type": "multipart/form-data; boundary=x"], "").code
                    == 403)
            #expect(try await page.send(.PUT, "/u/\(page.session.secret)/a", body: ByteBuffer(string: "x")).code == 403)
            #expect(page.consent.asked.all.isEmpty)
        }
    }
}
