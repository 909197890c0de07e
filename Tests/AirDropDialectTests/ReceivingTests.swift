import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing
import TestSupport
import Testing

@testable import AirDropDialect

@Suite("Receiving by AirDrop", .timeLimit(.minutes(2)))
struct ReceivingTests {
    @Test("a question is read whatever its writer shares, of few files and of the most", arguments: [17, Limits.items])
    func sharedTexts(_ count: Int) async throws {
        let files = (0..<count).map { number in
            HandMadeAsk.File(
                name: "Letter \(number).docx", type: "org.openxmlformats.wordprocessingml.document", size: 10,
                path: "./Letter \(number).docx")
        }
        try await AirDropLoopback.run { receiver in
            let question = SharedList.encoded(HandMadeAsk(files: files).list)
            let answer = try await receiver.http { try await $0.post("/Ask", question) }
            #expect(answer.status == .ok)
            #expect(receiver.consent.asked.all.first?.offer.items.count == count)
        }
    }

    @Test(
        "each form of a body that senders use arrives, however it is cut",
        arguments: [
            ("ask.opendrop.plist", "plain.odc.cpio.gz", "application/x-cpio"),
            ("ask.opendrop.plist", "plain.odc.cpio", "application/x-cpio"),
            ("ask.opendrop.plist", "plain.newc.cpio", "application/x-cpio"),
            ("ask.apple.plist", "stored.dvzip", "application/x-dvzip"),
            ("ask.apple.plist", "deflated.dvzip", "application/x-dvzip"),
            ("ask.apple.plist", "mixed.dvzip", "application/x-dvzip"),
            ("ask.apple.plist", "apple.dvzip", "application/x-dvzip"),
            ("ask.apple.plist", "apple.dvzip", "application/x-cpio"),
        ], [1, 7, 100, 1 << 20])
    func forms(_ vector: (ask: String, body: String, type: String), size: Int) async throws {
        try await AirDropLoopback.run { receiver in
            let answers = try await receiver.send(
                ask: Vector.buffer(vector.ask), type: vector.type, pieces: Vector.buffer(vector.body).pieces(of: size))
            let fault = try await receiver.end()
            #expect(answers.ask == 200 && answers.upload == 200 && fault == nil, "\(fault?.message ?? "")")
            Vector.expectArrived(receiver.inbox)
            let asked = receiver.consent.asked.all.first
            #expect(asked?.offer.dialect == .airdrop)
            #expect(asked?.offer.items.map(\.kind) == [.file, .file, .file, .tree])
            #expect(asked?.offer.items.last?.entries == nil)
        }
    }

    @Test("the requests of a current Apple sender are answered, also without the last chunk")
    func apple() async throws {
        try await AirDropLoopback.run { receiver in
            let answer = try await receiver.bare { bare in
                let discover = try Vector.buffer("discover.apple.plist")
                try await bare.send(
                    "POST /Discover HTTP/1.1\r\nUser-Agent: AirDrop/1.0\r\nConnection: close\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n")
                try await bare.send(discover.chunk)
                try await bare.send("0\r\n\r\n")
                return try await bare.receive(until: "\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}never")
            }
            #expect(answer.hasPrefix("HTTP/1.1 200"))
            #expect(answer.contains("kitchen") && answer.lowercased().contains("connection: close"))
            let (accepted, stored) = try await receiver.bare { bare in
                try await bare.send(
                    "POST /Ask HTTP/1.1\r\nUser-Agent: AirDrop/1.0\r\nTransfer-Encoding: chunked\r\n\r\n")
                for piece in try Vector.buffer("ask.apple.plist").pieces(of: 100) { try await bare.send(piece.chunk) }
                try await bare.send("0\r\n\r\n")
                let accepted = try await bare.receive(until: "ReceiverModelName")
                try await bare.send(
                    "POST /Upload HTTP/1.1\r\nUser-Agent: AirDrop/1.0\r\nTotalBytes: 34\r\n"
                        + "Content-Type: application/x-dvzip\r\nSenderPseudonym: x\r\nSenderPushToken: y\r\n"
                        + "TransferID: 6f9619ff-8b86-d011-b42d-00c04fc964ff\r\nConnection: keep-alive\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n")
                try await bare.send(try Vector.buffer("apple.dvzip").chunk)
                // The last chunk never comes.
                return (accepted, try await bare.receive(until: "\r\n\r\n"))
            }
            #expect(accepted.hasPrefix("HTTP/1.1 200"))
            #expect(stored.hasPrefix("HTTP/1.1 200") && stored.lowercased().contains("connection: close"))
            Vector.expectArrived(receiver.inbox)
        }
    }

    @Test("a sender that waits for permission to continue gets it, once for each body")
    func continues() async throws {
        try await AirDropLoopback.run { receiver in
            try await receiver.bare { bare in
                let ask = HandMadeAsk.files("a")
                try await bare.send(
                    "POST /Ask HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: \(ask.readableBytes)\r\n\r\n")
                #expect(try await bare.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await bare.send(ask)
                #expect(try await bare.receive(until: "ReceiverModelName").hasPrefix("HTTP/1.1 200"))
                var archive = HandMadeArchive()
                archive.add("./a", [1])
                let body = ByteBuffer(bytes: archive.whole)
                try await bare.send(
                    "POST /Upload HTTP/1.1\r\nexpect: 100-Continue\r\nContent-Type: application/x-cpio\r\n"
                        + "Content-Length: \(body.readableBytes)\r\n\r\n")
                #expect(try await bare.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                try await bare.send(body)
                #expect(try await bare.receive(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200"))
            }
            #expect(receiver.inbox["a"]?.bytes == [1])
        }
    }

    @Test("a link arrives with the answer to its question, and nothing is uploaded")
    func links() async throws {
        try await AirDropLoopback.run { receiver in
            let answer = try await receiver.http { try await $0.post("/Ask", Vector.buffer("ask.link.plist")) }
            #expect(answer.status == .ok)
            let stored = receiver.inbox["example.com.url"]
            #expect(stored?.bytes == Array("[InternetShortcut]\r\nURL=https://example.com/path?a=b\r\n".utf8))
            let asked = receiver.consent.asked.all.first?.offer
            #expect(asked?.items.first?.kind == .url)
            #expect(asked?.annotation["sourceApplication"] == "com.apple.mobilesafari")
        }
    }

    @Test("links beside files come with the files")
    func linksAndFiles() async throws {
        try await AirDropLoopback.run { receiver in
            let ask = HandMadeAsk(
                files: [HandMadeAsk.File(name: "a")], links: ["https://example.com/", "mailto:x@example.com"])
            var archive = HandMadeArchive()
            archive.add("./a", [1, 2])
            let answers = try await receiver.send(ask: ask.encoded, pieces: [ByteBuffer(bytes: archive.whole)])
            #expect(answers.upload == 200)
            #expect(Set(receiver.inbox.names) == ["a", "example.com.url", "mailto.url"])
        }
    }

    @Test("a declined offer is answered with 401 and an empty body, the connection ends, and nothing is left")
    func declined() async throws {
        try await AirDropLoopback.run(.decline) { receiver in
            let answer = try await receiver.http { try await $0.post("/Ask", HandMadeAsk.files("a")) }
            #expect(answer.status == .unauthorized)
            #expect(answer.body.readableBytes == 0)
            #expect(answer.headers.first(name: "connection") == "close")
            #expect(receiver.inbox.everStagedCount == 0)
        }
    }

    @Test("a receiver with too many questions is not a person who says no: 503")
    func busy() async throws {
        try await AirDropLoopback.run(.items([.tooManyOffersWait])) { receiver in
            let answer = try await receiver.http { try await $0.post("/Ask", HandMadeAsk.files("a")) }
            #expect(answer.status == .serviceUnavailable)
        }
    }

    @Test("a sender that goes away while people think takes its question with it")
    func withdrawn() async throws {
        try await AirDropLoopback.run(.never) { receiver in
            try await receiver.bare { bare in
                let ask = HandMadeAsk.files("a")
                try await bare.send("POST /Ask HTTP/1.1\r\nContent-Length: \(ask.readableBytes)\r\n\r\n")
                try await bare.send(ask)
                _ = try await receiver.consent.asked.first()
            }
            _ = try await receiver.consent.withdrawn.first()
        }
    }

    @Test("a receiver that is not visible to everyone shows itself to no peer, and takes nothing")
    func invisible() async throws {
        try await AirDropLoopback.run(isVisible: false) { receiver in
            let discover = try await receiver.http {
                try await $0.post("/Discover", Vector.buffer("discover.apple.plist"))
            }
            #expect(discover.status == .unauthorized)
            let ask = try await receiver.http { try await $0.post("/Ask", HandMadeAsk.files("a")) }
            #expect(ask.status == .unauthorized)
            // The receiver answers before the end of the body, which never comes.
            for path in ["/Discover", "/Ask"] {
                let answer = try await receiver.http { http in
                    try await http.upload(path, headers: HTTPHeaders(), timeout: .seconds(60)) {
                        ByteBuffer(repeating: 0, count: 64 << 10)
                    }
                }
                #expect(answer.status == .unauthorized)
            }
            #expect(receiver.reception.bodies.bytesTaken == 0)
            #expect(receiver.consent.asked.count == 0)
        }
    }

    @Test("a question for which there is no memory is answered so at once")
    func noMemory() async throws {
        try await AirDropLoopback.run { receiver in
            let others = receiver.reception.bodies.claim(isContact: false)
            let isTaken = others.take(Limits.bodyBytesOfStrangers)
            #expect(isTaken)
            let ask = try await receiver.http { try await $0.post("/Ask", HandMadeAsk.files("a")) }
            #expect(ask.status == .serviceUnavailable)
            others.giveBack()
            #expect(try await receiver.http { try await $0.post("/Ask", HandMadeAsk.files("a")) }.status == .ok)
            #expect(receiver.reception.bodies.bytesTaken == 0)
        }
    }

    @Test("a probe is answered, and the connection serves on")
    func probe() async throws {
        try await AirDropLoopback.run { receiver in
            try await receiver.http { http in
                for _ in 0..<3 {
                    let answer = try await http.exchange(.HEAD, "/", headers: [:], body: nil, timeout: .seconds(60))
                    #expect(answer.status == .ok)
                }
                #expect(try await http.post("/Discover", Vector.buffer("discover.opendrop.plist")).status == .ok)
            }
        }
    }

    @Test("items that people did not want are passed over, the others arrive")
    func some() async throws {
        let verdicts = [ItemVerdict(.declined), .accepted, ItemVerdict(.declined)]
        try await AirDropLoopback.run(.items(verdicts)) { receiver in
            var archive = HandMadeArchive()
            for name in ["a", "b", "c"] { archive.add("./" + name, Array(name.utf8)) }
            let answers = try await receiver.send(
                ask: HandMadeAsk.files("a", "b", "c"), pieces: [ByteBuffer(bytes: archive.whole)])
            #expect(answers.upload == 200)
            #expect(receiver.inbox.names == ["b"])
        }
    }

    @Test("members come in any order, and folders need not be named")
    func order() async throws {
        try await AirDropLoopback.run { receiver in
            let ask = HandMadeAsk(
                files: [
                    HandMadeAsk.File(name: "z"),
                    HandMadeAsk.File(name: "d", type: "public.folder", isFolder: true),
                ])
            var archive = HandMadeArchive()
            archive.add("./d/deep/er/file", [1])
            archive.folder("./d/deep")
            archive.add("./d/deep/other", [2])
            archive.folder("d/last/")
            archive.add("z", [3])
            let answers = try await receiver.send(ask: ask.encoded, pieces: [ByteBuffer(bytes: archive.whole)])
            #expect(answers.upload == 200)
            #expect(receiver.inbox["z"]?.bytes == [3])
            let tree = receiver.inbox["d"]?.entries ?? [:]
            #expect(tree["deep/er/file"]?.bytes == [1] && tree["deep/other"]?.bytes == [2])
            #expect(tree["last"] != nil)
        }
    }

    @Test("a file that is only named like a sidecar is no sidecar")
    func notSidecars() async throws {
        try await AirDropLoopback.run { receiver in
            var archive = HandMadeArchive()
            archive.folder("./d")
            archive.add("./d/._real", [1, 2, 3])
            archive.add("./d/._fake", [0, 5, 0x16, 7, 0])
            archive.add("./._d", [0, 5, 0x16, 7, 0])
            let answers = try await receiver.send(
                ask: HandMadeAsk.folder("d"), pieces: [ByteBuffer(bytes: archive.whole)])
            #expect(answers.upload == 200)
            #expect(receiver.inbox["d"]?.entries["._real"]?.bytes == [1, 2, 3])
            #expect(receiver.inbox["d"]?.entries["._fake"] == nil)
        }
    }

    @Test("an idle connection does not prevent others from sending")
    func idle() async throws {
        try await AirDropLoopback.run { receiver in
            try await receiver.bare { _ in
                let answers = try await receiver.send(
                    ask: Vector.buffer("ask.opendrop.plist"), pieces: [Vector.buffer("plain.odc.cpio.gz")])
                #expect(answers.upload == 200)
            }
        }
    }

    @Test("thirty senders at the same time are all served")
    func many() async throws {
        try await AirDropLoopback.run { receiver in
            try await withThrowingTaskGroup(of: Int?.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        var archive = HandMadeArchive()
                        archive.add("./n\(number)", [UInt8](repeating: UInt8(number), count: 200_000))
                        return try await receiver.send(
                            ask: HandMadeAsk.files("n\(number)"),
                            pieces: ByteBuffer(bytes: archive.whole).pieces(of: 10_000)
                        ).upload
                    }
                }
                for try await status in group { #expect(status == 200) }
            }
            #expect(receiver.inbox.stored.count == 30 && receiver.inbox.stagedCount == 0)
            #expect(receiver.inbox["n7"]?.bytes == [UInt8](repeating: 7, count: 200_000))
        }
    }

    @Test("no AirDrop sender is a known peer, and each connection is another peer")
    func strangers() async throws {
        try await AirDropLoopback.run { receiver in
            for name in ["a", "b"] {
                _ = try await receiver.http { try await $0.post("/Ask", HandMadeAsk.files(name)) }
            }
            let peers = receiver.consent.asked.all.map(\.peer)
            #expect(Set(peers).count == 2)
        }
    }
}

extension ByteBuffer {
    /// The bytes as one chunk of a body.
    var chunk: ByteBuffer {
        var chunk = ByteBuffer(string: String(readableBytes, radix: 16) + "\r\n")
        chunk.writeImmutableBuffer(self)
        chunk.writeString("\r\n")
        return chunk
    }
}
