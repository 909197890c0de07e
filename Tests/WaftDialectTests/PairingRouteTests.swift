import Executors
import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import Pairing
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

private let disk = BlockingExecutor(threads: 2)

/// A receiver whose pairing is a closure of the test's.
private enum PairingLoopback {
    static let message = Array(#"{"from":"initiator","step":"commit","v":1,"value":"00"}"#.utf8)

    /// - Parameter port: nil for a receiver without pairing.
    static func run(
        _ port: PairingPort?, _ body: @Sendable @escaping (Int) async throws -> Void
    ) async throws {
        let reception = Reception(
            inbox: MemoryInbox(), journal: MemoryJournal(), gate: ScriptedGate(), consent: ScriptedConsent(.decline),
            delivery: RecordingDelivery(.none), consentWait: .seconds(60), observe: { _ in })
        let server = WaftServer(reception: reception, card: { _ in nil })
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try HTTPServer.configure(channel) }
            }
        let number = try #require(listener.channel.localAddress?.port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: disk) {
                try await listener.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { tasks in
                        for try await connection in connections {
                            tasks.addTask {
                                await server.serve(connection, visitor: Visitor(.sample(1)), pairing: port)
                            }
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            try await body(number)
        }
    }

    static func http<Result: Sendable>(
        _ port: Int, _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try HTTPClient.configure(channel, answerLimit: 1 << 20) }
            }
        return try await HTTPClient.run(connection, body)
    }
}

@Suite("The route of pairing", .timeLimit(.minutes(1)))
struct PairingRouteTests {
    @Test("without a name, messages go both ways byte for byte, several on one connection")
    func bytes() async throws {
        let seen = Recorder<PairingLetter>()
        try await PairingLoopback.run { letter in
            seen.record(letter)
            return PairingLetter(message: letter.message.reversed())
        } _: { port in
            let letter = PairingLetter(message: PairingLoopback.message)
            let answers = try await PairingLoopback.http(port) { http in
                let client = WaftClient(http)
                return [
                    try await client.pair(letter, timeout: .seconds(30)),
                    try await client.pair(letter, timeout: .seconds(30)),
                ]
            }
            #expect(answers.map(\.message) == Array(repeating: letter.message.reversed(), count: 2))
            #expect(seen.all == [letter, letter])
        }
    }

    @Test("both sides' names come beside the message, made fit to be shown")
    func names() async throws {
        let seen = Recorder<PairingLetter>()
        try await PairingLoopback.run { letter in
            seen.record(letter)
            return PairingLetter(message: Array(#"{"step":"nonce"}"#.utf8), name: "kit\u{1B}[2Jchen\u{202E}")
        } _: { port in
            let answer = try await PairingLoopback.http(port) { http in
                try await WaftClient(http).pair(
                    PairingLetter(message: PairingLoopback.message, name: #"st"u\dy"#), timeout: .seconds(30))
            }
            #expect(answer.name == "kit[2Jchen")
            let letter = try #require(seen.all.first)
            #expect(letter.name == #"st"u\dy"# || letter.name == #"st"udy"#)
            #expect(letter.message.starts(with: #"{"name":"#.utf8))
            #expect(String(decoding: letter.message, as: UTF8.self).contains(#""step":"commit""#))
        }
    }

    @Test("a name for which there is no room is left out, not the message")
    func nameWithoutRoom() {
        let message = Array((#"{"a":""# + String(repeating: "x", count: 1_010) + #""}"#).utf8)
        #expect(Array(PairingLetter(message: message, name: "study").body.readableBytesView) == message)
        let noObject = Array("refused".utf8)
        #expect(Array(PairingLetter(message: noObject, name: "study").body.readableBytesView) == noObject)
    }

    @Test("a message without JSON is handed on unchanged: pairing refuses it", arguments: ["", "[[[[", "\u{0}", "{}"])
    func hostile(_ body: String) async throws {
        let seen = Recorder<PairingLetter>()
        try await PairingLoopback.run { letter in
            seen.record(letter)
            return PairingLetter(message: Array("no".utf8))
        } _: { port in
            let answer = try await PairingLoopback.http(port) { http in
                try await http.exchange(
                    .POST, WaftDialect.Resource.pairing.path, body: ByteBuffer(string: body), timeout: .seconds(30))
            }
            #expect(answer.status == .ok)
            #expect(seen.all == [PairingLetter(message: Array(body.utf8))])
        }
    }

    @Test("a message of more than 1,024 bytes is refused before pairing sees it")
    func tooLarge() async throws {
        let seen = Recorder<PairingLetter>()
        try await PairingLoopback.run { letter in
            seen.record(letter)
            return letter
        } _: { port in
            let answer = try await PairingLoopback.http(port) { http in
                try await http.exchange(
                    .POST, WaftDialect.Resource.pairing.path, body: ByteBuffer(repeating: 0x20, count: 1_025),
                    timeout: .seconds(30))
            }
            #expect(answer.status == .payloadTooLarge)
            #expect(seen.count == 0)
        }
    }

    @Test("another method is answered 405, a receiver without pairing 403")
    func refusals() async throws {
        try await PairingLoopback.run {
            $0
        } _: { port in
            let answer = try await PairingLoopback.http(port) { http in
                try await http.exchange(.GET, WaftDialect.Resource.pairing.path, timeout: .seconds(30))
            }
            #expect(answer.status == .methodNotAllowed)
        }
        try await PairingLoopback.run(nil) { port in
            let fault = await #expect(throws: TransferError.self) {
                try await PairingLoopback.http(port) { http in
                    _ = try await WaftClient(http).pair(PairingLetter(message: []), timeout: .seconds(30))
                }
            }
            #expect(fault?.code == .notAccepted)
        }
    }

    @Test("when the client leaves while its answer waits for a user, pairing is notified")
    func departure() async throws {
        let begun = Recorder<Void>()
        let cancelled = Recorder<Void>()
        try await PairingLoopback.run { letter in
            let (never, _) = AsyncStream<Void>.makeStream()
            begun.record(())
            for await _ in never {}
            if Task.isCancelled { cancelled.record(()) }
            return letter
        } _: { port in
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: port).get()
            let request = "POST /waft/1/pairing HTTP/1.1\r\nhost: waft\r\ncontent-length: 2\r\n\r\n{}"
            try await channel.writeAndFlush(ByteBuffer(string: request)).get()
            try await begun.first()
            try await channel.close().get()
            try await cancelled.first()
        }
    }
}
