import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@Suite("The client's side of HTTP", .timeLimit(.minutes(3)))
struct HTTPClientTests {
    /// A server that sends exactly `text` after a whole head, and then closes or continues to listen.
    private func against<Result: Sendable>(
        _ text: String,
        closing: Bool = true,
        answerLimit: Int = 1_000,
        _ body: @escaping @Sendable (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        try await against(
            { try? await $0.write(ByteBuffer(string: text)) }, closing: closing, answerLimit: answerLimit, body)
    }

    /// The same with a server that answers through `answer`.
    private func against<Result: Sendable>(
        _ answer: (NIOAsyncChannelOutboundWriter<ByteBuffer>) async throws -> Void,
        closing: Bool = true,
        answerLimit: Int = 1_000,
        _ body: @escaping @Sendable (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let port = try #require(listener.channel.localAddress?.port)
        return try await listener.executeThenClose { connections in
            let client = Task {
                let server = LoopbackServer(port: port)
                return try await server.client(answerLimit: answerLimit, body)
            }
            for try await connection in connections {
                try await connection.executeThenClose { inbound, outbound in
                    var received = ""
                    for try await bytes in inbound {
                        received += String(buffer: bytes)
                        if received.contains("\r\n\r\n") { break }
                    }
                    try await answer(outbound)
                    if !closing { _ = await client.result }
                }
                break
            }
            return try await client.value
        }
    }

    private func fault(_ text: String, closing: Bool = true, timeout: Duration = .seconds(60)) async throws
        -> HTTPError?
    {
        try await against(text, closing: closing) { client in
            do {
                let answer = try await client.exchange(.GET, "/", timeout: timeout)
                Issue.record("there was an answer: \(answer)")
                return nil
            } catch let fault as HTTPError {
                return fault
            }
        }
    }

    @Test("a connection that a layer below finds cut off is a closed one, and no answer that is not HTTP")
    func cutOff() async throws {
        struct Truncated: Error {}
        let asked = Gate()
        try await LoopbackServer.run { exchange in
            asked.open()
            await exchange.whileClientWaits { try? await Task.sleep(for: .seconds(3_600)) }
        } _: { server in
            let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: server.port) { channel in
                    channel.eventLoop.makeCompletedFuture { try HTTPClient.configure(channel, answerLimit: 1_000) }
                }
            let cut = Task {
                await asked.wait()
                connection.channelBelow.pipeline.fireErrorCaught(Truncated())
            }
            await #expect(throws: HTTPError.closed) {
                try await HTTPClient.run(connection) { client in
                    _ = try await client.exchange(.GET, "/", timeout: .seconds(60))
                }
            }
            await cut.value
        }
    }

    @Test("the client sends a plain HTTP/1.1 request")
    func request() async throws {
        let heads = Recorder<HTTPRequestHead>()
        try await LoopbackServer.run { exchange in
            heads.record(exchange.head)
            try await echo(exchange)
        } _: { server in
            try await server.client { client in
                _ = try await client.exchange(.GET, "/waft/1/card", timeout: .seconds(60))
                _ = try await client.exchange(.POST, "/b", body: ByteBuffer(string: "{}"), timeout: .seconds(60))
                var pieces = [ByteBuffer(string: "piece")]
                let answer = try await client.upload(
                    "/c", headers: ["host": "waft", "content-type": "application/x"], timeout: .seconds(60)
                ) {
                    pieces.popLast()
                }
                #expect(String(buffer: answer.body) == "/c piece")
            }
        }
        let expected: [(HTTPMethod, String, HTTPHeaders)] = [
            (.GET, "/waft/1/card", ["host": "waft"]),
            (.POST, "/b", ["host": "waft", "content-type": "application/json", "content-length": "2"]),
            (.POST, "/c", ["host": "waft", "content-type": "application/x", "transfer-encoding": "chunked"]),
        ]
        #expect(heads.count == expected.count)
        for (head, (method, uri, headers)) in zip(heads.all, expected) {
            #expect((head.method, head.uri, head.version) == (method, uri, .http1_1))
            #expect(head.headers == headers)
        }
    }

    @Test("an early answer is seen while the body is still being sent, and the rest of the body is not asked for")
    func earlyAnswer() async throws {
        // More than all socket buffers hold, so the sender cannot have finished before.
        let pieces = 2_000
        let piece = ByteBuffer(repeating: 7, count: 64 << 10)
        let asked = Recorder<Void>()
        let answer = try await LoopbackServer.run { exchange in
            _ = try await exchange.nextBytes()
            try await exchange.respondAndClose(.conflict, text: "enough")
        } _: { server in
            try await server.client { client in
                try await client.upload(
                    "/", headers: ["host": "waft", "content-type": "application/x"], timeout: .seconds(60)
                ) {
                    asked.record(())
                    return asked.count <= pieces ? piece : nil
                }
            }
        }
        #expect(answer.status == .conflict)
        #expect(String(buffer: answer.body) == "enough\n")
        #expect(asked.count < pieces)
    }

    @Test("an early answer of megabytes comes whole")
    func largeEarlyAnswer() async throws {
        let large = ByteBuffer(repeating: 0x61, count: 16 << 20)
        let answer = try await LoopbackServer.run { exchange in
            try await exchange.respondAndClose(.conflict, body: large)
        } _: { server in
            try await server.client(answerLimit: 32 << 20) { client in
                try await client.exchange(.POST, "/", body: ByteBuffer(string: "{}"), timeout: .seconds(60))
            }
        }
        #expect(answer.body == large)
    }

    @Test("a reader gets a body as it arrives, and no other part of the answer is kept")
    func bodyReader() async throws {
        let gate = Gate()
        let pieces = Recorder<String>()
        let answer = try await against { outbound in
            try await outbound.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nfirst"))
            await gate.wait()
            try await outbound.write(ByteBuffer(string: "other"))
        } _: { client in
            try await client.exchange(.GET, "/", timeout: .seconds(60)) { bytes in
                pieces.record(String(buffer: bytes))
                gate.open()
            }
        }
        #expect(pieces.all == ["first", "other"])
        #expect(answer.body == ByteBuffer())
    }

    @Test("the body of a refusal does not go to the reader")
    func bodyReaderOfRefusal() async throws {
        let text = "HTTP/1.1 409 Conflict\r\ncontent-length: 2\r\n\r\nno"
        let answer = try await against(text) { client in
            try await client.exchange(.GET, "/", timeout: .seconds(60)) { Issue.record("got \($0)") }
        }
        #expect(answer.body == ByteBuffer(string: "no"))
    }

    @Test("an error of the reader of a body is thrown")
    func bodyReaderThrows() async throws {
        struct Refusal: Error {}
        let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx"
        _ = try await against(head, closing: false) { client in
            await #expect(throws: Refusal.self) {
                try await client.exchange(.GET, "/", timeout: .seconds(60)) { _ in throw Refusal() }
            }
        }
    }

    @Test("an answer that trickles is not waited for longer than the timeout")
    func trickles() async throws {
        let fault = try await against { outbound in
            try await outbound.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n"))
            // Until the client has closed.
            while (try? await outbound.write(ByteBuffer(string: "x"))) != nil {
                try await Task.sleep(for: .milliseconds(50))
            }
        } _: { client in
            await #expect(throws: HTTPError.self) {
                try await client.exchange(.GET, "/", timeout: .milliseconds(500))
            }
        }
        #expect(fault == .silence)
    }

    @Test("a large answer may take longer than the timeout, if a mebibyte of it does not")
    func largeAndSlow() async throws {
        let mebibyte = ByteBuffer(repeating: 0x61, count: 1 << 20)
        let server = { (outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>) in
            try await outbound.write(ByteBuffer(string: "HTTP/1.1 200 OK\r\ncontent-length: \(4 << 20)\r\n\r\n"))
            for number in 0..<4 {
                if number > 0 { try await Task.sleep(for: .seconds(2)) }
                try await outbound.write(mebibyte)
            }
        }
        let answer = try await against(server, answerLimit: 4 << 20) { client in
            try await client.exchange(.GET, "/", timeout: .seconds(5))
        }
        #expect(answer.body.readableBytes == 4 << 20)
    }

    @Test("an answer larger than is allowed ends the connection")
    func tooLarge() async throws {
        let head = "HTTP/1.1 200 OK\r\n"
        let body = String(repeating: "x", count: 1_001)
        #expect(try await fault(head + "content-length: 1001\r\n\r\n" + body, closing: false) == .tooLarge)
        #expect(try await fault(head + "transfer-encoding: chunked\r\n\r\n3e9\r\n\(body)\r\n0\r\n\r\n") == .tooLarge)
        // Without a length the body ends with the connection.
        #expect(try await fault(head + "\r\n" + body) == .tooLarge)
    }

    @Test("a redirect is an answer like another, and is not followed", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) async throws {
        let text = "HTTP/1.1 \(status) Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
        let answer = try await against(text) { try await $0.exchange(.GET, "/", timeout: .seconds(60)) }
        #expect(Int(answer.status.code) == status)
        #expect(answer.headers.first(name: "location") == "http://127.0.0.1:1/")
    }

    @Test("a server that closes without an answer has closed")
    func closed() async throws {
        #expect(try await fault("") == .closed)
    }

    @Test(
        "an answer that is no complete HTTP is a fault",
        arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n", "hello", "HTTP/1.1\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
            "HTTP/2.0 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe",
            "HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551616\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "\u{16}\u{3}\u{3}\0\u{7A}",
        ])
    func noAnswer(text: String) async throws {
        // Not `try? … != nil`: there is always a fault, but its kind differs.
        do {
            let answer = try await against(text) { try await $0.exchange(.GET, "/", timeout: .seconds(60)) }
            #expect(answer.status == .switchingProtocols && text.contains(" 101 "))
        } catch is HTTPError {}
    }

    @Test("a head without end is not listened to")
    func endlessHead() async throws {
        let field = "x: \(String(repeating: "v", count: 1_000))\r\n"
        let head = "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 1_000)
        _ = try #require(try await fault(head, closing: false))
        _ = try #require(
            try await fault("HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 1_000), closing: false))
    }

    @Test("an answer without a request ends the connection")
    func unasked() async throws {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"
        try await against(answer + answer, closing: false) { client in
            let first = try await client.exchange(.GET, "/", timeout: .seconds(60))
            #expect(String(buffer: first.body) == "hi")
            await #expect(throws: HTTPError.self) { try await client.exchange(.GET, "/", timeout: .seconds(60)) }
        }
    }

    @Test("a server that says nothing is not waited for longer than the timeout")
    func silence() async throws {
        #expect(try await fault("", closing: false, timeout: .milliseconds(20)) == .silence)
        #expect(
            try await fault("HTTP/1.1 200 OK\r\ncontent-le", closing: false, timeout: .milliseconds(20)) == .silence)
        #expect(try await fault("", closing: false, timeout: .zero) == .silence)
        #expect(try await fault("", closing: false, timeout: .seconds(-5)) == .silence)
    }

    @Test("a server that takes nothing is not sent to for longer than the timeout")
    func takesNothing() async throws {
        let forever = Gate()
        try await LoopbackServer.run { _ in
            await forever.wait()
        } _: { server in
            try await server.client { client in
                let piece = ByteBuffer(repeating: 7, count: 1 << 20)
                do {
                    _ = try await client.upload(
                        "/", headers: ["host": "waft", "content-type": "application/x"], timeout: .milliseconds(100)
                    ) {
                        piece
                    }
                    Issue.record("there was an answer")
                } catch let fault as HTTPError {
                    #expect(fault == .silence)
                }
            }
        }
        forever.open()
    }

    @Test("a server that leaves in the middle of an upload is known to have left")
    func leavesInUpload() async throws {
        struct Leaving: Error {}
        try await LoopbackServer.run { exchange in
            _ = try await exchange.nextBytes()
            throw Leaving()
        } _: { server in
            try await server.client { client in
                let piece = ByteBuffer(repeating: 7, count: 1 << 20)
                await #expect(throws: HTTPError.self) {
                    _ = try await client.upload(
                        "/", headers: ["host": "waft", "content-type": "application/x"], timeout: .seconds(60)
                    ) { piece }
                }
            }
        }
    }

    @Test("an error of the producer of a body is thrown")
    func producerThrows() async throws {
        struct Gone: Error {}
        try await LoopbackServer.run(respond: echo) { server in
            try await server.client { client in
                await #expect(throws: Gone.self) {
                    try await client.upload(
                        "/", headers: ["host": "waft", "content-type": "application/x"], timeout: .seconds(60)
                    ) { throw Gone() }
                }
            }
        }
    }

    @Test("cancelling the task ends an exchange that waits, and the connection with it")
    func cancelled() async throws {
        let (begun, forever) = (Gate(), Gate())
        try await LoopbackServer.run { exchange in
            await exchange.whileClientWaits {
                begun.open()
                await forever.wait()
            }
        } _: { server in
            let task = Task {
                try await server.client { try await $0.exchange(.GET, "/", timeout: .seconds(3_600)) }
            }
            await begun.wait()
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            try await server.served.element(1)
        }
        forever.open()
    }

    @Test("a connection that was made and then not used does no harm")
    func notUsed() async throws {
        try await LoopbackServer.run(respond: echo) { server in
            let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: server.port) { channel in
                    channel.eventLoop.makeCompletedFuture { try HTTPClient.configure(channel, answerLimit: 1) }
                }
            connection.close()
        }
    }
}
