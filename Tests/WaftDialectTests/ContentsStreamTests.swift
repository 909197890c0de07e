import Digests
import Executors
import HTTPChannel
import NIOCore
import NIOHTTP1
import SecureTransport
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

private let hello = Array("hello".utf8)

@Suite("The stream of contents", .timeLimit(.minutes(1)))
struct ContentsStreamTests {
    private static let contents: ByteBuffer = {
        var frames = ByteBuffer()
        frames.writeFileItem(0, hello)
        frames.writeFrame(.end)
        return frames
    }()

    /// All but the last frame.
    private static let whole = contents.getSlice(at: 0, length: contents.readableBytes - 8)

    /// The bytes that a receiver sends until its stream ends.
    private static func readAll(_ stream: SecureStream) -> [UInt8] {
        var bytes: [UInt8] = []
        while let next = try? stream.receive(within: PeerTimeout(.seconds(60))) { bytes += next.readableBytesView }
        stream.close(lingering: .zero)
        return bytes
    }

    @Test("contents that do not leave HTTP are refused with the name of the protocol, and can be sent properly")
    func notAsked() async throws {
        try await WaftLoopback.run { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            let answer = try await loopback.http { http in
                try await http.exchange(
                    .POST, WaftDialect.Resource.contents(offer.transfer).path, body: Self.contents,
                    timeout: .seconds(60))
            }
            #expect(answer.status == .upgradeRequired)
            #expect(String(buffer: answer.body).contains(WaftDialect.contentsProtocol))
            let stored = try await loopback.post(Self.contents, to: offer.transfer)
            #expect(stored.status == 200)
        }
    }

    @Test("contents that are sent before the 101 are not lost")
    func early() async throws {
        try await WaftLoopback.run { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            let path = WaftDialect.Resource.contents(offer.transfer).path
            var bytes = ByteBuffer(
                string: "POST \(path) HTTP/1.1\r\nconnection: upgrade\r\nupgrade: waft-contents/1\r\n\r\n")
            bytes.writeImmutableBuffer(Self.contents)
            try await loopback.send(bytes) {
                let fault = try await loopback.end(of: offer.transfer)
                #expect(fault == nil)
                #expect(loopback.inbox.names == ["file-0"])
            }
        }
    }

    @Test(
        "the answer is the receipt's text in data frames, and the stream ends behind it, whatever comes after the end")
    func answer() async throws {
        for more in [[UInt8](), Array("GET / HTTP/1.1\r\n\r\n".utf8)] {
            try await WaftLoopback.run { loopback in
                let offer = Offer.sample()
                _ = try await loopback.offer(offer)
                let bytes = try await loopback.contents(of: offer.transfer) { stream in
                    var frames = Self.contents
                    _ = try? stream.send(&frames, within: PeerTimeout(.seconds(60)), isListening: false)
                    // The receiver has what it wants by then.
                    let first = try? stream.receive(within: PeerTimeout(.seconds(60)))
                    var rest = ByteBuffer(bytes: more)
                    _ = try? stream.send(&rest, within: PeerTimeout(.seconds(60)), isListening: false)
                    return (first.map { Array($0.readableBytesView) } ?? []) + Self.readAll(stream)
                }
                let text = try WaftDialect.writer(
                    Receipt(
                        transfer: offer.transfer,
                        items: [
                            ItemReceipt(.stored(name: "file-0", size: 5, digest: .of(.xxh3_128, hello)))
                        ])
                ).joined()
                var expected = ByteBuffer()
                expected.writeDataFrame(text)
                expected.writeFrame(.end)
                #expect(bytes == Array(expected.readableBytesView))
            }
        }
    }

    @Test("a stream that ends before the last frame is interrupted, and what is whole is stored")
    func unended() async throws {
        for (frames, stored) in [(ByteBuffer(), []), (Self.whole, ["file-0"])] {
            try await WaftLoopback.run { loopback in
                let offer = Offer.sample(items: 2)
                _ = try await loopback.offer(offer)
                let fault = try await loopback.cut(offer.transfer, after: try #require(frames))
                #expect(fault?.code == .interrupted)
                #expect(loopback.inbox.names == stored)
            }
        }
    }

    @Test("a receiver that works for long on what has come shows that it is alive, and then answers")
    func signsOfLife() async throws {
        let release = Semaphore()
        let inbox = MemoryInbox { operation in
            if case .commit = operation { release.wait() }
            return nil
        }
        try await WaftLoopback.run(inbox: inbox, signOfLife: .milliseconds(5)) { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            let reply = try await loopback.contents(of: offer.transfer) { stream in
                var frames = Self.contents
                _ = try? stream.send(&frames, within: PeerTimeout(.seconds(60)), isListening: false)
                var waiting: [UInt8] = []
                while waiting.count < 24, let next = try? stream.receive(within: PeerTimeout(.seconds(60))) {
                    waiting += next.readableBytesView
                }
                release.signal()
                return (waiting, Self.readAll(stream))
            }
            #expect(reply.0.prefix(24) == ([0x80] + Array(repeating: 0, count: 7)).repeated(3)[...])
            #expect(reply.1.contains(FrameType.data.rawValue))
        }
    }

    @Test("a sender that is slow is not told to wait")
    func notTold() async throws {
        try await WaftLoopback.run(signOfLife: .milliseconds(1)) { loopback in
            let offer = Offer.sample()
            _ = try await loopback.offer(offer)
            let pieces = try await loopback.contents(of: offer.transfer) { stream in
                // Nothing comes while the receiver waits for this side. On a busy machine it begins to wait late.
                var pieces = 0
                while pieces < 1_000, let next = try? stream.receive(within: PeerTimeout(.milliseconds(100))),
                    next.readableBytes > 0
                { pieces += 1 }
                return pieces
            }
            #expect(pieces < 1_000)
        }
    }

    @Test("a sender that offers its transfer again ends the stream on which it came before")
    func offeredAgain() async throws {
        try await WaftLoopback.run { loopback in
            let offer = Offer.sample(items: 2)
            _ = try await loopback.offer(offer)
            let begun = Gate()
            let first = Task {
                try await loopback.contents(of: offer.transfer) { stream in
                    var frames = Self.contents.getSlice(at: 0, length: 90) ?? ByteBuffer()
                    _ = try? stream.send(&frames, within: PeerTimeout(.seconds(60)), isListening: false)
                    begun.open()
                    return Self.readAll(stream)
                }
            }
            await begun.wait()
            let busy = try await loopback.offer(offer)
            #expect(busy.items.map(\.answer) == [.busy, .busy])
            let fault = try await loopback.end(of: offer.transfer)
            #expect(fault?.code == .interrupted)
            // It hears no answer.
            let answer = try await first.value
            #expect(answer == [])
        }
    }

    @Test("one stranger's transfers beyond its threads are busy, before they begin, and a contact's go on")
    func busy() async throws {
        try await WaftLoopback.run(access: .stranger) { loopback in
            let release = Semaphore()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Limits.contentThreadsPerStranger {
                    // Of different items: for others of the same the receiver would wait.
                    let offer = Offer(of: [MemorySource.file("file-\(number)", hello)])
                    _ = try await loopback.offer(offer)
                    let begun = Gate()
                    group.addTask {
                        try await loopback.contents(of: offer.transfer) { stream in
                            begun.open()
                            release.wait()
                            stream.close(lingering: .zero)
                        }
                    }
                    await begun.wait()
                }
                // Another transfer of the same stranger, which was accepted on the other's port.
                let offer = Offer.sample()
                _ = try await loopback.offer(offer, as: WaftLoopback.other)
                let free = try await loopback.post(Self.contents, to: offer.transfer, as: WaftLoopback.other)
                #expect(free.status == 200)
                let id = TransferID()
                let full = try await loopback.post(Self.contents, to: id)
                #expect((full.status, full.fault?.code) == (503, .stopping))
                for _ in 0..<Limits.contentThreadsPerStranger { release.signal() }
                try await group.waitForAll()
            }
        }
    }
}

extension Array {
    fileprivate func repeated(_ count: Int) -> [Element] { (0..<count).flatMap { _ in self } }
}
