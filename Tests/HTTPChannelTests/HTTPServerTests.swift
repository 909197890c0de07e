import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import TestSupport
import Testing

@Suite("The server's side of HTTP", .timeLimit(.minutes(3)))
struct HTTPServerTests {
    @Test("one connection serves many requests, one after the other")
    func keepAlive() async throws {
        try await LoopbackServer.run(respond: echo) { server in
            try await server.client { client in
                for number in 0..<50 {
                    let answer = try await client.exchange(
                        .POST, "/\(number)", body: ByteBuffer(string: "body"), timeout: .seconds(60))
                    #expect(answer.status == .ok)
                    #expect(String(buffer: answer.body) == "/\(number) body")
                }
            }
            #expect(server.served.count <= 1)
        }
    }

    @Test("requests that are sent without waiting are answered one by one, in order")
    func pipelined() async throws {
        let running = Recorder<Int>()
        let count = Recorder<Int>()
        try await LoopbackServer.run { exchange in
            running.record(1)
            try await echo(exchange)
            count.record(running.count)
        } _: { server in
            try await server.bare { connection in
                let requests = (0..<100).map { "POST /\($0) HTTP/1.1\r\ncontent-length: 2\r\n\r\nhi" }
                try await connection.send(requests.joined())
                for number in 0..<100 { _ = try await connection.receive(through: "/\(number) hi") }
            }
        }
        // The server answers each request before it begins the next.
        #expect(count.all == Array(1...100))
    }

    @Test("a request in single bytes is a request")
    func singleBytes() async throws {
        try await LoopbackServer.run(respond: echo) { server in
            try await server.bare { connection in
                for byte in "POST /a HTTP/1.1\r\nhost: waft\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
                    .utf8
                {
                    try await connection.send([byte])
                }
                _ = try await connection.receive(through: "/a hi")
            }
        }
    }

    @Test("contents that are read in bulk come in larger pieces than other bodies")
    func bulk() async throws {
        let largest = Recorder<Int>()
        try await LoopbackServer.run { exchange in
            if exchange.head.uri == "/bulk" { exchange.readInBulk() }
            var (pieces, count) = ([Int](), 0)
            while let bytes = try await exchange.nextBytes() {
                pieces.append(bytes.readableBytes)
                count += bytes.readableBytes
            }
            largest.record(pieces.max() ?? 0)
            try await exchange.respond(.ok, body: ByteBuffer(string: "\(count)"))
        } _: { server in
            try await server.client { client in
                for path in ["/", "/bulk"] {
                    let body = ByteBuffer(repeating: 7, count: 8 << 20)
                    let answer = try await client.exchange(.POST, path, body: body, timeout: .seconds(60))
                    #expect(String(buffer: answer.body) == "\(8 << 20)")
                }
            }
        }
        // SwiftNIO's own pieces, with which these connections begin, have at most 64 KiB.
        let all = largest.all
        #expect(all.count == 2 && all[0] <= 64 << 10 && all[1] > 64 << 10, "\(all)")
    }

    @Test("a body is taken up to its limit, and not a byte further", arguments: [true, false])
    func bodyLimit(chunked: Bool) async throws {
        @Sendable func request(_ count: Int) -> String {
            let body = String(repeating: "x", count: count)
            let head = "POST / HTTP/1.1\r\n"
            return chunked
                ? head + "transfer-encoding: chunked\r\n\r\n\(String(count, radix: 16))\r\n\(body)\r\n0\r\n\r\n"
                : head + "content-length: \(count)\r\n\r\n\(body)"
        }
        try await LoopbackServer.run(Times(lingering: .milliseconds(1))) { exchange in
            let body = try await exchange.body(upTo: 1_000)
            try await exchange.respond(.ok, body: ByteBuffer(string: "\(body.readableBytes) bytes"))
        } _: { server in
            try await server.bare { connection in
                try await connection.send(request(1_000))
                _ = try await connection.receive(through: "1000 bytes")
                try await connection.send(request(1_001))
                _ = try await connection.receive(through: "HTTP/1.1 413 ")
                #expect(await connection.receiveToEnd().contains("too large"))
            }
        }
    }

    @Test("a body that announces too much is refused before it comes")
    func announced() async throws {
        try await LoopbackServer.run(respond: echo) { server in
            try await server.bare { connection in
                try await connection.send("POST / HTTP/1.1\r\ncontent-length: 9223372036854775807\r\n\r\n")
                _ = try await connection.receive(through: "HTTP/1.1 413 ")
            }
        }
    }

    @Test(
        "bytes that are no HTTP are answered with 400 and a closed connection",
        arguments: [
            "hello\r\n\r\n", "\0\0\0\0\0\0\0\0", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}", "GET\r\n\r\n", "GET /\r\n\r\n",
            "GET / HTTP/2.0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "SSH-2.0-OpenSSH\r\n",
            "get / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n no: fold\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n",
            "GET / HTTP/1.1\r\n: empty\r\n\r\n", "GET / HTTP/1.1\r\na: b\0c\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 18446744073709551616\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 99999999999999999999999999\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: 1e9\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 0x10\r\n\r\n", "POST / HTTP/1.1\r\ncontent-length: 1,2\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n",
        ])
    func garbage(text: String) async throws {
        let reached = Recorder<String>()
        try await LoopbackServer.run { exchange in
            reached.record(exchange.head.uri)
            try await echo(exchange)
        } _: { server in
            try await server.bare { connection in
                try await connection.send(text)
                #expect(await connection.receiveToEnd().hasPrefix("HTTP/1.1 400 "))
            }
            try await server.served.element(1)
        }
        #expect(reached.count == 0)
    }

    @Test("2^63 as a length is a length, and a body that never comes so far is refused")
    func hugeLength() async throws {
        try await LoopbackServer.run(Times(lingering: .milliseconds(1))) { exchange in
            _ = try await exchange.body(upTo: 1 << 20)
        } _: { server in
            try await server.bare { connection in
                try await connection.send("POST / HTTP/1.1\r\ncontent-length: 9223372036854775808\r\n\r\n")
                _ = await connection.flood(String(repeating: "x", count: 64 << 10), atMost: 64 << 20)
            }
            try await server.served.element(1)
        }
    }

    @Test(
        "garbage in the middle of a chunked body ends the exchange",
        arguments: [
            "ZZ\r\n", "-1\r\n", "2\r\nhixx", "10000000000000000\r\n", "fffffffffffffffff\r\n", "2 \0\r\nhi", "\r\n\r\n",
        ])
    func chunkedGarbage(text: String) async throws {
        let failed = Recorder<String>()
        try await LoopbackServer.run { exchange in
            do {
                while try await exchange.nextBytes() != nil {}
                Issue.record("the body ended as if it were whole")
            } catch {
                failed.record("\(error)")
                throw error
            }
        } _: { server in
            try await server.bare { connection in
                try await connection.send("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n")
                try await connection.send(text)
                _ = await connection.receiveToEnd()
            }
            try await server.served.element(1)
        }
        #expect(failed.count == 1)
    }

    @Test("a head of more than 64 fields, more than 8 KiB in one, or more than 32 KiB in all is refused")
    func largeHeads() async throws {
        @Sendable func field(_ number: Int, _ bytes: Int) -> String {
            "x-\(number): \(String(repeating: "v", count: bytes))\r\n"
        }
        let heads = [
            (0..<65).map { field($0, 1) }.joined(), field(0, 9_000), (0..<40).map { field($0, 1_000) }.joined(),
        ]
        try await LoopbackServer.run(respond: echo) { server in
            for head in heads {
                try await server.bare { connection in
                    try await connection.send("GET / HTTP/1.1\r\n\(head)\r\n")
                    #expect(await connection.receiveToEnd().hasPrefix("HTTP/1.1 400 "))
                }
            }
            try await server.bare { connection in
                try await connection.send("GET /\(String(repeating: "u", count: 9_000)) HTTP/1.1\r\n\r\n")
                #expect(await connection.receiveToEnd().hasPrefix("HTTP/1.1 400 "))
            }
            try await server.bare { connection in
                try await connection.send("GET /fits HTTP/1.1\r\n\((0..<30).map { field($0, 900) }.joined())\r\n")
                _ = try await connection.receive(through: "/fits ")
            }
        }
    }

    @Test("a million fields are not listened to")
    func millionFields() async throws {
        try await LoopbackServer.run(respond: echo) { server in
            try await server.bare { connection in
                try await connection.send("GET / HTTP/1.1\r\n")
                // Far more than all system buffers hold, so it ends only because the server closes.
                _ = await connection.flood(String(repeating: "a: b\r\n", count: 10_000), atMost: .max)
            }
            try await server.served.element(1)
        }
    }

    @Test("trailers without end are not listened to")
    func trailers() async throws {
        try await LoopbackServer.run(respond: echo) { server in
            try await server.bare { connection in
                try await connection.send("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n")
                _ = await connection.flood(String(repeating: "a: b\r\n", count: 10_000), atMost: .max)
            }
            try await server.served.element(1)
        }
    }

    @Test("a client that asks for an upgrade cannot fill memory behind it, even during the wait for the answer")
    func upgrade() async throws {
        let forever = Gate()
        try await LoopbackServer.run { exchange in
            await exchange.whileClientWaits { await forever.wait() }
        } _: { server in
            try await server.bare { connection in
                try await connection.send("GET / HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")
                _ = await connection.flood(String(repeating: "x", count: 64 << 10), atMost: .max)
            }
            try await server.served.element(1)
        }
        forever.open()
    }

    @Test("HTTP/1.0 is answered, without interim answers, and its connection closed")
    func http10() async throws {
        let release = Gate()
        try await LoopbackServer.run(Times(interim: .zero)) { exchange in
            let text = await exchange.whileClientWaits {
                await release.wait()
                return "done"
            }
            try await exchange.respond(.ok, body: ByteBuffer(string: text))
        } _: { server in
            try await server.bare { connection in
                try await connection.send("GET / HTTP/1.0\r\n\r\n")
                release.open()
                let answer = await connection.receiveToEnd()
                #expect(answer.contains(" 200 ") && answer.hasSuffix("done") && !answer.contains(" 102 "))
            }
        }
    }

    @Test(
        "an answer that is made as it leaves comes whole, with chunks only where the client knows them",
        arguments: [0, 1])
    func piecewise(minor: Int) async throws {
        try await LoopbackServer.run(Times(lingering: .milliseconds(1))) { exchange in
            var rest = ["c", "b", "a"]
            try await exchange.respond(.ok) { rest.popLast().map { ByteBuffer(string: $0) } }
        } _: { server in
            try await server.bare { connection in
                try await connection.send("GET / HTTP/1.\(minor)\r\nconnection: close\r\n\r\n")
                let answer = await connection.receiveToEnd()
                let end = minor == 0 ? "\r\n\r\nabc" : "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"
                #expect(answer.hasSuffix(end))
                #expect(answer.contains("content-length: 3") == (minor == 0))
            }
        }
    }

    @Test("a streamed answer has a content length if it is one piece", arguments: ["", "a"])
    func onePiece(text: String) async throws {
        try await LoopbackServer.run(Times(lingering: .milliseconds(1))) { exchange in
            var rest = text.isEmpty ? [] : [ByteBuffer(string: text)]
            try await exchange.respond(.ok) { rest.popLast() }
        } _: { server in
            try await server.bare { connection in
                try await connection.send("GET / HTTP/1.1\r\nconnection: close\r\n\r\n")
                let answer = await connection.receiveToEnd()
                #expect(answer.hasSuffix("\r\n\r\n\(text)") && answer.contains("content-length: \(text.utf8.count)"))
            }
        }
    }

    @Test("a client that wants it gets its answer on a connection that then closes")
    func connectionClose() async throws {
        try await LoopbackServer.run(Times(lingering: .milliseconds(1)), respond: echo) { server in
            try await server.bare { connection in
                try await connection.send("GET /last HTTP/1.1\r\nconnection: close\r\n\r\n")
                #expect(await connection.receiveToEnd().hasSuffix("/last "))
            }
        }
    }

    @Test("a client that goes on sending after its answer is read no further, and still sees the answer")
    func readNoFurther() async throws {
        try await LoopbackServer.run(Times(lingering: .seconds(1))) { exchange in
            try await exchange.respondAndClose(.forbidden, text: "not you")
        } _: { server in
            try await server.bare { connection in
                try await connection.send("POST /a HTTP/1.1\r\ncontent-length: 9000000000000\r\n\r\n")
                _ = try await connection.receive(through: "not you")
                // The buffers of the system hold some of the data: 33 MB here.
                let sent = await connection.flood(String(repeating: "x", count: 64 << 10), atMost: 1 << 30)
                #expect(sent < 128 << 20)
            }
            let body = ByteBuffer(repeating: 0, count: 64 << 20)
            try await server.client { client in
                let answer = try await client.exchange(.POST, "/b", body: body, timeout: .seconds(60))
                #expect(answer.status == .forbidden)
            }
        }
    }

    @Test("a small unread rest of a body does not cost the connection, a large one does")
    func unreadBody() async throws {
        try await LoopbackServer.run(Times(lingering: .milliseconds(20))) { exchange in
            try await exchange.respond(.ok, body: ByteBuffer(string: "answer to \(exchange.head.uri)"))
        } _: { server in
            try await server.bare { connection in
                try await connection.send(
                    "POST /a HTTP/1.1\r\ncontent-length: 1000\r\n\r\n" + String(repeating: "x", count: 1_000))
                try await connection.send("POST /b HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
                _ = try await connection.receive(through: "answer to /b")
                try await connection.send("POST /c HTTP/1.1\r\ncontent-length: 9000000000000\r\n\r\n")
                _ = try await connection.receive(through: "answer to /c")
                _ = await connection.flood(String(repeating: "x", count: 64 << 10), atMost: .max)
            }
            try await server.served.element(1)
        }
    }

    @Test("an error that is no fault of HTTP closes the connection without an answer")
    func otherError() async throws {
        struct Unexpected: Error {}
        try await LoopbackServer.run { _ in
            throw Unexpected()
        } _: { server in
            try await server.bare { connection in
                try await connection.send("GET / HTTP/1.1\r\n\r\n")
                #expect(await connection.receiveToEnd() == "")
            }
        }
    }

    @Test("a connection that was set up and then not served does no harm")
    func notServed() async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture { try HTTPServer.configure(channel) }
            }
        let server = LoopbackServer(port: try #require(listener.channel.localAddress?.port))
        try await listener.executeThenClose { connections in
            async let client: String = server.bare { await $0.receiveToEnd() }
            for try await connection in connections {
                connection.close()
                break
            }
            #expect(try await client == "")
        }
    }

    @Test("a thousand idle connections do not hold up a real one")
    func idleConnections() async throws {
        try await LoopbackServer.run(Times(watchInterval: .seconds(1)), respond: echo) { server in
            var idle: [any Channel] = []
            for _ in 0..<1_000 {
                idle.append(
                    try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                        .connect(host: "127.0.0.1", port: server.port).get())
            }
            try await server.client { client in
                let answer = try await client.exchange(.GET, "/real", timeout: .seconds(60))
                #expect(answer.status == .ok)
            }
            for channel in idle { try await channel.close().get() }
            try await server.served.element(1_001)
        }
    }
}
