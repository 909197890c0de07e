import Digests
import Foundation
import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing

@testable import LocalSendDialect

@Suite("Receiving by LocalSend")
struct ReceivingTests {
    @Test("files of a folder and single files arrive in any order, each answered when it is stored")
    func anyOrder() async throws {
        try await LocalSendLoopback.run { receiver in
            let files = [LocalSendFile.sample("trip/a"), .sample("trip/day/b", "night"), .sample("c")]
            let session = try #require(try await receiver.ask(files).session)
            #expect(try await receiver.upload("hello", as: "trip-a", in: session) == 200)
            #expect(try await receiver.upload("hello", as: "c", in: session) == 200)
            #expect(receiver.inbox.names == ["c"])
            #expect(try await receiver.upload("night", as: "trip-day-b", in: session) == 200)
            #expect(receiver.inbox.names == ["c", "trip"])
            let tree = try #require(receiver.inbox["trip"])
            #expect(tree.entries["day/b"]?.bytes == Array("night".utf8))
            #expect(try await receiver.upload("night", as: "trip-day-b", in: session) == 403)
            #expect(receiver.inbox.stagedCount == 0)
        }
    }

    @Test("a message is stored as a text with the answer to the question")
    func message() async throws {
        try await LocalSendLoopback.run { receiver in
            var file = LocalSendFile.sample("5e0c.txt", "back at six 👋", id: "m")
            (file.fileType, file.preview) = ("text/plain", "back at six 👋")
            let status = try await receiver.status([file])
            #expect(status == 204)
            #expect(receiver.inbox["back at six 👋.txt"]?.bytes == Array("back at six 👋".utf8))
        }
    }

    @Test("a message that is a URL is stored as a link")
    func link() async throws {
        try await LocalSendLoopback.run { receiver in
            var file = LocalSendFile.sample("5e0c.txt", "https://example.com/a", id: "m")
            (file.fileType, file.preview) = ("text/plain", "https://example.com/a")
            let status = try await receiver.status([file])
            #expect(status == 204)
            #expect(receiver.inbox.names == ["example.com.url"])
        }
    }

    @Test("a file whose digest is wrong is refused with 422, and can be sent again")
    func wrongDigest() async throws {
        try await LocalSendLoopback.run { receiver in
            var file = LocalSendFile.sample("a")
            file.sha256 = String(Digest.of(.sha256, Array("hello".utf8)).description.dropFirst("sha-256:".count))
            let session = try #require(try await receiver.ask([file]).session)
            #expect(try await receiver.upload("jello", as: "a", in: session) == 422)
            #expect(try await receiver.upload("hell", as: "a", in: session) == 400)
            #expect(try await receiver.upload("hello", as: "a", in: session) == 200)
            #expect(receiver.inbox["a"]?.bytes == Array("hello".utf8))
        }
    }

    @Test("a question with a checksum that is none is refused, and nothing is asked", arguments: ["zz", "", "12"])
    func malformedDigest(_ sha256: String) async throws {
        try await LocalSendLoopback.run { receiver in
            var file = LocalSendFile.sample("a")
            file.sha256 = sha256
            let status = try await receiver.status([file])
            #expect(status == 400)
            #expect(receiver.inbox.names.isEmpty)
        }
    }

    @Test("a checksum of another type makes a question malformed")
    func digestOfAnotherType() throws {
        let file = #"{"id":"a","fileName":"a","size":1,"sha256":7}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(LocalSendFile.self, from: Data(file.utf8)) }
    }

    @Test("a refused question is answered with 403 and the reason, never with 204")
    func declined() async throws {
        try await LocalSendLoopback.run(.decline) { receiver in
            let reply = try await receiver.ask([.sample("a")])
            #expect(reply.session == nil)
            #expect(reply.status == 403)
        }
    }

    @Test("three wrong PINs lock an address out; a missing one does not count")
    func pins() async throws {
        try await LocalSendLoopback.run(from: .stranger, pin: "471100") { receiver in
            for _ in 0..<5 {
                let status = try await receiver.status([.sample("a")])
                #expect(status == 401)
            }
            let status = try await receiver.status([.sample("a")], pin: "471100")
            #expect(status == 200)
            for _ in 0..<3 {
                let status = try await receiver.status([.sample("a")], pin: "1")
                #expect(status == 401)
            }
            let last = try await receiver.status([.sample("a")], pin: "471100")
            #expect(last == 429)
        }
    }

    @Test("a contact needs no PIN, and its wrong ones do not count")
    func pinOfContact() async throws {
        try await LocalSendLoopback.run(from: .contact, pin: "471100") { receiver in
            for number in 0..<5 {
                let status = try await receiver.status([.sample("\(number)")], pin: "1")
                #expect(status == 200)
            }
        }
    }

    @Test("a receiver that hides answers every request alike and tells nothing")
    func hidden() async throws {
        try await LocalSendLoopback.run(isVisible: false) { receiver in
            for path in ["/api/localsend/v2/info", "/api/localsend/v1/info", "/", "/x"] {
                let answer = try await receiver.get(path)
                #expect(answer.status.code == 403)
                #expect(!String(buffer: answer.body).contains("kitchen"))
            }
            let status = try await receiver.status([.sample("a")])
            #expect(status == 403)
        }
    }

    @Test("info and register tell the name; register reports the other device, and never this one")
    func register() async throws {
        try await LocalSendLoopback.run { receiver in
            for path in ["/api/localsend/v2/info", "/api/localsend/v1/info?fingerprint=77"] {
                let answer = try await receiver.get(path)
                #expect(LocalSendDevice(message: answer.body.readableBytesView)?.alias == "kitchen")
            }
            var phone = LocalSendDevice(alias: "phone", deviceModel: "", deviceType: "mobile", fingerprint: "AA")
            (phone.port, phone.scheme) = (53_317, .https)
            #expect(try await receiver.postStatus("register", String(decoding: phone.message(), as: UTF8.self)) == 200)
            let own = String(decoding: LocalSendLoopback.device.message(), as: UTF8.self)
            #expect(try await receiver.postStatus("register", own) == 412)
            #expect(try await receiver.postStatus("register", "{}") == 400)
            #expect(receiver.met.all.map(\.alias) == ["phone"])
            _ = try await receiver.ask([.sample("a")])
            #expect(receiver.met.all.map(\.alias) == ["phone", "phone"])
        }
    }

    @Test(
        "a name that leads elsewhere, or that is two things, costs its own file only",
        arguments: ["../a", "/etc/passwd", "t/../../a", "", "t/good/b"])
    func badNames(_ name: String) async throws {
        try await LocalSendLoopback.run { receiver in
            #expect(try await receiver.status([.sample(name, id: "odd"), .sample("t/good")]) == 200)
            let offer = try #require(receiver.consent.asked.all.first?.offer)
            #expect(offer.items.map(\.name.text) == ["t"] && offer.items[0].entries == 2)
            guard !name.hasPrefix("t/good") else { return }
            #expect(try await receiver.status([.sample(name, id: "odd")]) == 400)
            #expect(receiver.consent.asked.count == 1)
        }
    }

    @Test("a dot in a path means the folder that it is in")
    func dots() async throws {
        try await LocalSendLoopback.run { receiver in
            let session = try #require(
                try await receiver.ask([.sample("./a", id: "a"), .sample("t/./b", id: "b")]).session)
            for id in ["a", "b"] { #expect(try await receiver.upload("hello", as: id, in: session) == 200) }
            #expect(receiver.inbox["a"]?.bytes == Array("hello".utf8))
            #expect(receiver.inbox["t"]?.entries["b"]?.bytes == Array("hello".utf8))
        }
    }

    @Test("a wrong token, session or file is refused with 403, a missing parameter with 400")
    func tokens() async throws {
        try await LocalSendLoopback.run { receiver in
            let session = try #require(try await receiver.ask([.sample("a")]).session)
            #expect(try await receiver.upload("hello", as: "a", in: session, token: "x") == 403)
            #expect(try await receiver.upload("hello", as: "b", in: session, token: "x") == 403)
            #expect(try await receiver.postStatus("upload?sessionId=1&fileId=a&token=x") == 403)
            #expect(try await receiver.postStatus("upload?sessionId=1&fileId=a") == 400)
            #expect(receiver.inbox.stagedCount == 0)
        }
    }

    @Test("after a cancel the files that were answered with 200 stay, and nothing else")
    func cancel() async throws {
        try await LocalSendLoopback.run { receiver in
            let session = try #require(try await receiver.ask([.sample("t/a"), .sample("t/b"), .sample("c")]).session)
            #expect(try await receiver.upload("hello", as: "t-a", in: session) == 200)
            #expect(try await receiver.postStatus("cancel?sessionId=\(session.sessionId)") == 200)
            #expect(receiver.inbox.names == ["t (incomplete)"])
            #expect(try await receiver.upload("hello", as: "c", in: session) == 403)
            #expect(receiver.inbox.stagedCount == 0)
        }
    }

    @Test("a session whose transfer is cancelled here in the moment that it begins takes no file")
    func cancelledAtOnce() async throws {
        try await LocalSendLoopback.run(cancelsAtOnce: true) { receiver in
            let session = try #require(try await receiver.ask([.sample("a")]).session)
            #expect(try await receiver.upload("hello", as: "a", in: session) != 200)
            #expect(receiver.inbox.names.isEmpty)
        }
    }

    @Test("a sender is told that this side has ended its session, and not that it has ended it itself")
    func endedHere() async throws {
        try await LocalSendLoopback.run { loopback in
            let done = try await loopback.ask([.sample("a")]).session
            let session = try #require(done)
            _ = try await loopback.upload("hello", as: "a", in: session)
            let cancelled = try #require(try await loopback.ask([.sample("b")]).session)
            _ = try await loopback.post("cancel?sessionId=\(cancelled.sessionId)")
            #expect(loopback.ended.all.isEmpty)
            let open = try #require(try await loopback.ask([.sample("c")]).session)
            await loopback.server.close()
            #expect(loopback.ended.all.map(\.id) == [open.sessionId])
            #expect(loopback.ended.all.map(\.sender.alias) == ["phone"])
        }
    }

    @Test("a cancel without a session takes the waiting question back")
    func cancelQuestion() async throws {
        try await LocalSendLoopback.run(.never) { receiver in
            async let answer = receiver.ask([.sample("a")])
            _ = try await receiver.consent.asked.first()
            #expect(try await receiver.postStatus("cancel") == 200)
            let refused = try await answer
            #expect(refused.session == nil)
            #expect(try await receiver.judged().cause == .senderCancelled)
        }
    }

    @Test("a cancel that ends nothing is answered with 403, and never with 200")
    func cancelNothing() async throws {
        try await LocalSendLoopback.run { receiver in
            #expect(try await receiver.postStatus("cancel") == 403)
            #expect(try await receiver.postStatus("cancel?sessionId=another-sending") == 403)
            let session = try #require(try await receiver.ask([.sample("a")]).session)
            #expect(try await receiver.postStatus("cancel?sessionId=\(session.sessionId)") == 200)
            #expect(try await receiver.postStatus("cancel?sessionId=\(session.sessionId)") == 403)
        }
    }

    @Test("a part of a file is refused with 400, and the whole file is taken afterwards")
    func part() async throws {
        try await LocalSendLoopback.run { receiver in
            let session = try #require(try await receiver.ask([.sample("a")]).session)
            let path = "upload?sessionId=\(session.sessionId)&fileId=a&token=\(session.files["a"] ?? "")"
            let status = try await RawSender.run(receiver.port) { sender in
                try await sender.begin(path, "content-length: 5\r\ncontent-range: bytes 5-9/10")
                try await sender.write("hello")
                return try await sender.status()
            }
            #expect(status == 400 && receiver.inbox.names.isEmpty)
            #expect(try await receiver.upload("hello", as: "a", in: session) == 200)
        }
    }

    @Test("a phone whose receiver stops gets 503 and no word of a cancellation, and one that is lost has not cancelled")
    func unanswered() async throws {
        try await LocalSendLoopback.run(.never) { receiver in
            async let answer = receiver.ask([.sample("a")])
            _ = try await receiver.consent.asked.first()
            receiver.reception.stop()
            _ = try await receiver.postStatus("cancel")
            let refused = try await answer
            #expect((refused.status, refused.message) == (503, EndCause.receiverStopped.words))
        }
        try await LocalSendLoopback.run(.never) { receiver in
            let asking = Task { try await receiver.ask([.sample("a")]) }
            _ = try await receiver.consent.asked.first()
            asking.cancel()
            #expect(try await receiver.judged().cause == .fault)
        }
    }

    @Test("a receiver with too many questions answers 503 and says why: the app shows other words than these with 409")
    func busy() async throws {
        try await LocalSendLoopback.run(.items([.tooManyOffersWait])) { receiver in
            let answer = try await receiver.ask([.sample("a")])
            #expect((answer.status, answer.message) == (503, ItemVerdict.tooManyOffersWait.reason))
        }
    }

    @Test(
        "a question that is no question is refused with 400",
        arguments: ["", "{}", "[]", #"{"info":{"alias":"a"},"files":{}}"#, #"{"info":{},"files":{"a":{}}}"#])
    func nonsense(_ body: String) async throws {
        try await LocalSendLoopback.run { receiver in
            let status = try await receiver.postStatus("prepare-upload", body)
            #expect(status == 400)
        }
    }
}
