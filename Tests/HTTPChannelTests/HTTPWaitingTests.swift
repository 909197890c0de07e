import HTTPChannel
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@Suite("Waiting on either side of HTTP", .timeLimit(.minutes(3)))
struct HTTPWaitingTests {
    @Test("a waiting client is reminded, and then gets its answer")
    func interim() async throws {
        let release = Gate()
        try await LoopbackServer.run(Times(interim: .milliseconds(1))) { exchange in
            await exchange.keepingClientInformed { await release.wait() }
            try await exchange.respond(.ok, body: ByteBuffer(string: "at last"))
        } _: { server in
            try await server.bare { connection in
                try await connection.send("GET / HTTP/1.1\r\n\r\n")
                for _ in 0..<3 { _ = try await connection.receive(through: "HTTP/1.1 102 Processing\r\n") }
                release.open()
                _ = try await connection.receive(through: "HTTP/1.1 200 OK\r\n")
                _ = try await connection.receive(through: "at last")
            }
        }
    }

    @Test("interim answers are no answer to a client of ours, however many come")
    func interimForClient() async throws {
        try await LoopbackServer.run(Times(interim: .microseconds(100))) { exchange in
            await exchange.keepingClientInformed { try? await Task.sleep(for: .milliseconds(50)) }
            try await exchange.respond(.ok, body: ByteBuffer(string: exchange.head.uri))
        } _: { server in
            try await server.client { client in
                for path in ["/waits", "/next"] {
                    let answer = try await client.exchange(.GET, path, timeout: .seconds(60))
                    #expect(answer.status == .ok && String(buffer: answer.body) == path)
                }
            }
        }
    }

    @Test("interim answers draw a client's wait out to its maximum and no further, and without one not at all")
    func maximum() async throws {
        let forever = Gate()
        try await LoopbackServer.run(Times(interim: .milliseconds(1))) { exchange in
            await exchange.keepingClientInformed { await forever.wait() }
        } _: { server in
            let waits: [(timeout: Duration, maximum: Duration?)] = [
                (.seconds(3_600), .milliseconds(50)), (.milliseconds(50), nil), (.seconds(1), .milliseconds(1_500)),
            ]
            for wait in waits {
                let fault = await #expect(throws: HTTPError.self) {
                    try await server.client {
                        _ = try await $0.exchange(.GET, "/", timeout: wait.timeout, maximum: wait.maximum)
                    }
                }
                #expect(fault == .silence)
                // The server takes no bytes of this body beyond those that the sockets hold.
                let other = await #expect(throws: HTTPError.self) {
                    try await server.client {
                        _ = try await $0.upload(
                            "/", headers: ["host": "waft", "content-type": "application/x"], timeout: wait.timeout,
                            maximum: wait.maximum
                        ) { ByteBuffer(repeating: 7, count: 1 << 20) }
                    }
                }
                #expect(other == .silence)
            }
        }
        forever.open()
    }

    @Test("a client waits for longer than its timeout while interim answers come")
    func drawnOut() async throws {
        try await LoopbackServer.run(Times(interim: .milliseconds(10))) { exchange in
            await exchange.keepingClientInformed { try? await Task.sleep(for: .seconds(5)) }
            try await exchange.respond(.ok, body: ByteBuffer(string: "at last"))
        } _: { server in
            try await server.client { client in
                let answer = try await client.exchange(.GET, "/", timeout: .seconds(4), maximum: .seconds(60))
                #expect(answer.status == .ok)
            }
        }
    }

    @Test("a client that closes its connection cancels the work for it")
    func vanishes() async throws {
        let (begun, cancelled, forever) = (Gate(), Gate(), Gate())
        try await LoopbackServer.run { exchange in
            await exchange.whileClientWaits {
                begun.open()
                await forever.wait()
                if Task.isCancelled { cancelled.open() }
            }
        } _: { server in
            try await server.bare { connection in
                try await connection.send("POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
                await begun.wait()
            }
            await cancelled.wait()
            try await server.served.element(1)
        }
        forever.open()
    }

    @Test("a client that has left before the work begins cancels it too, also on its second request")
    func vanishedBefore() async throws {
        let (left, forever) = (Gate(), Gate())
        let results = Recorder<Bool>()
        try await LoopbackServer.run { exchange in
            let isFirst = exchange.head.uri == "/first"
            if !isFirst { await left.wait() }
            await exchange.whileClientWaits {
                if isFirst { return }
                await forever.wait()
                results.record(Task.isCancelled)
            }
            try await exchange.respond(.ok, body: ByteBuffer(string: "done"))
        } _: { server in
            try await server.bare { connection in
                try await connection.send("GET /first HTTP/1.1\r\n\r\n")
                _ = try await connection.receive(through: "done")
                try await connection.send("GET /second HTTP/1.1\r\n\r\n")
            }
            left.open()
            #expect(try await results.first())
            try await server.served.element(1)
        }
        forever.open()
    }

    @Test("a stopping server cancels the work for a client, and can still answer")
    func stopped() async throws {
        let begun = Gate()
        let seen = Recorder<String>()
        let forever = Gate()
        // The client is not part of the server, which is cancelled during its request.
        let server = Task {
            try await LoopbackServer.run(Times(lingering: .milliseconds(1))) { exchange in
                await exchange.whileClientWaits {
                    begun.open()
                    await forever.wait()
                }
                try await exchange.respondAndClose(.serviceUnavailable, text: "stopping")
            } _: { server in
                let client = Task {
                    try await server.bare { connection in
                        try await connection.send("GET / HTTP/1.1\r\n\r\n")
                        seen.record(await connection.receiveToEnd())
                    }
                }
                _ = client
                await forever.wait()
            }
        }
        await begun.wait()
        server.cancel()
        #expect(try await seen.first().hasPrefix("HTTP/1.1 503 "))
        _ = await server.result
        forever.open()
    }

    @Test("a connection without requests is closed")
    func idle() async throws {
        try await LoopbackServer.run(Times(idle: .milliseconds(20)), respond: echo) { server in
            try await server.bare { connection in #expect(await connection.receiveToEnd() == "") }
            try await server.served.element(1)
        }
    }

    @Test("a connection that falls silent between two requests is closed after its first answer")
    func idleAfterwards() async throws {
        try await LoopbackServer.run(Times(idle: .seconds(2)), respond: echo) { server in
            try await server.bare { connection in
                try await connection.send("GET /a HTTP/1.1\r\n\r\n")
                #expect(await connection.receiveToEnd().hasSuffix("/a "))
            }
        }
    }

    @Test(
        "a client that falls silent in the middle of a request is not waited for",
        arguments: [
            "POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhe",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhe",
        ])
    func silence(request: String) async throws {
        let faults = Recorder<HTTPError>()
        try await LoopbackServer.run(Times(silence: .milliseconds(20))) { exchange in
            do {
                _ = try await exchange.body(upTo: 100)
            } catch let fault as HTTPError {
                faults.record(fault)
                throw fault
            }
        } _: { server in
            try await server.bare { connection in
                try await connection.send(request)
                #expect(await connection.receiveToEnd() == "")
            }
            #expect(try await faults.first() == .silence)
        }
    }

    @Test("half a head is idleness")
    func halfHead() async throws {
        try await LoopbackServer.run(Times(idle: .milliseconds(20)), respond: echo) { server in
            try await server.bare { connection in
                // It may be closed already.
                try? await connection.send("GET / HTTP/1.1\r\nhost: wa")
                #expect(await connection.receiveToEnd() == "")
            }
        }
    }

    @Test("a client that asks and asks and never reads its answers is not served for ever")
    func neverReads() async throws {
        let megabyte = ByteBuffer(repeating: 0x20, count: 1 << 20)
        try await LoopbackServer.run(Times(silence: .milliseconds(50))) { exchange in
            try await exchange.respond(.ok, body: megabyte)
        } _: { server in
            try await server.bare { connection in
                // The client reads nothing: the test holds the connection open until the server gives up.
                try await connection.channel.setOption(.autoRead, value: false).get()
                let requests = String(repeating: "GET / HTTP/1.1\r\n\r\n", count: 100)
                try await connection.send(requests)
                try await server.served.element(1)
            }
        }
    }

    @Test("a client that leaves in the middle of its body is known to have left")
    func leavesInBody() async throws {
        let faults = Recorder<String>()
        try await LoopbackServer.run { exchange in
            do {
                while try await exchange.nextBytes() != nil {}
                faults.record("the body was whole")
            } catch {
                faults.record("left")
                throw error
            }
        } _: { server in
            try await server.bare { connection in
                try await connection.send("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
            }
            #expect(try await faults.first() == "left")
        }
    }
}
