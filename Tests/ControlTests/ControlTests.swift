import Foundation
import Lines
import Logging
import NIOCore
import NIOPosix
import Sharing
import TestSupport
import Testing

@testable import Control

@Suite("The control socket", .timeLimit(.minutes(1)))
struct ControlTests {
    @Test(
        "each request reaches the daemon, and each reply comes back as it was",
        arguments: [
            (.status, .status(status)), (.offers, .offers([])), (.answer(offer: 7, accept: true), .done),
            (.items(offer: 7, from: 1_000), .items([])),
            (.answer(offer: -1, accept: false), .refused("no \"such\" offer\n")),
        ] as [(ControlRequest, ControlReply)])
    func exchange(request: ControlRequest, reply: ControlReply) async throws {
        let asked = Recorder<ControlRequest>()
        try await withServer { request in
            asked.record(request)
            return reply
        } _: { socket, _ in
            try await expect(reply, to: request, at: socket)
        }
        #expect(asked.all == [request])
    }

    @Test("an offer is shown with the first hundred of its items, and how many there are")
    func offers() async throws {
        var offer = Offer.sample(items: 101)
        offer.annotation = ["note": "hi"]
        let queue = ConsentQueue(rule: .ask)
        let events = queue.events()
        let asking = Task { [offer] in await queue.consent(to: offer, from: .sample(1), freeRoom: 9) }
        for await _ in events { break }
        let summary = try #require(queue.offers.first.map { OfferLine($0, .stranger("a test", .sample(1))) })
        queue.answer(1, accept: true)
        _ = await asking.value
        #expect((summary.offer, summary.from.name, summary.note, summary.free) == (1, "a test", "hi", 9))
        #expect((summary.items.count, summary.count, summary.size) == (100, 101, 505))
        #expect(summary.from.id == PeerID.sample(1).text)
        try await withServer { _ in
            .offers([summary])
        } _: { socket, _ in
            try await expect(.offers([summary]), to: .offers, at: socket)
        }
    }

    @Test("the socket is for this user alone")
    func mode() async throws {
        try await withServer { socket, folder in
            var facts = stat()
            #expect(lstat(socket.path, &facts) == 0)
            #expect(facts.st_mode & S_IFMT == S_IFSOCK)
            #expect(facts.st_mode & 0o777 == 0o600)
            #expect(folder.names == ["control", "control.lock", "control.secret"])
        }
    }

    @Test(
        "another user is not heard, even where the file modes would let it in",
        .enabled(if: geteuid() == 0, "needs root, to become somebody else"), arguments: [ControlRequest.status, .watch])
    func anotherUser(request: ControlRequest) async throws {
        let heard = Recorder<ControlRequest>()
        let events = EventFeed()
        try await withServer(events: events) { request in
            heard.record(request)
            return .done
        } _: { socket, folder in
            chmod(folder.path, 0o755)
            chmod(socket.path, 0o666)
            let script = """
                use Socket; socket(my $s, PF_UNIX, SOCK_STREAM, 0) or exit 3; connect($s, sockaddr_un($ARGV[0])) or exit 4;
                syswrite($s, $ARGV[1]); my $n = sysread($s, my $reply, 100); exit($n ? 5 : 0);
                """
            let line = try proof(at: socket) + String(buffer: try ControlCoding.line(request))
            func outcome(_ user: [String]) async throws -> Int32 {
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
                process.arguments = user + ["perl", "-e", script, socket.path, line]
                return try await withCheckedThrowingContinuation { continuation in
                    process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                    do { try process.run() } catch { continuation.resume(throwing: error) }
                }
            }
            // Another user gets no answer, even with the secret. Root gets `denied`, because the receiver started its
            // program.
            #expect(try await outcome(["--reuid=65534", "--clear-groups"]) == 0)
            #expect(heard.count == 0)
            #expect(events.watchers == 0)
            #expect(try await outcome(["--reuid=0"]) == 5)
        }
        #expect(heard.count == 0)
    }

    @Test(
        "a line that is no request is refused, and the connection continues",
        arguments: [
            "\n", "hello\n", "{}\n", "null\n", "[]\n", "{\"v\":2}\n", "{\"v\":2,\"message\":{\"selfDestruct\":{}}}\n",
            "{\"v\":2,\"message\":{\"answer\":{\"offer\":1e30,\"accept\":true}}}\n", "\u{FF}\u{0}\n",
        ])
    func garbage(line: String) async throws {
        let asked = Recorder<ControlRequest>()
        try await withServer { request in
            asked.record(request)
            return .done
        } _: { socket, _ in
            try await bare(socket) { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: line))
                let reply = try #require(try await inbound.next())
                #expect(String(buffer: reply).contains("does not know this request"))
                try await outbound.write(try ControlCoding.line(ControlRequest.offers))
                #expect(try await inbound.next() != nil)
            }
        }
        #expect(asked.all == [.offers])
    }

    @Test(
        "a request of another version is refused with the reason, and the connection continues",
        arguments: [
            #"{"v":1,"message":{"status":{}}}"#, #"{"v":1,"message":{"watch":{}}}"#, #"{"v":0}"#,
            #"{"v":-9223372036854775808,"what":[]}"#,
        ])
    func versions(line: String) async throws {
        try await withServer { socket, _ in
            try await bare(socket) { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: line + "\n"))
                let reply = String(buffer: try #require(try await inbound.next()))
                #expect(reply.contains("which it does not speak"), "\(reply)")
                try await outbound.write(try ControlCoding.line(ControlRequest.status))
                #expect(String(buffer: try #require(try await inbound.next())).contains("kitchen"))
            }
        }
    }

    @Test("deeply nested JSON is refused, and crashes no process")
    func deep() async throws {
        try await withServer { socket, _ in
            let bomb = String(repeating: "[", count: 60_000) + "\n"
            try await bare(socket) { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: bomb))
                #expect(try await inbound.next() != nil)
            }
            try await expect(.status(status), to: .status, at: socket)
        }
    }

    @Test("unknown fields are ignored")
    func unknownFields() async throws {
        try await withServer { socket, _ in
            try await bare(socket) { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                try await outbound.write(ByteBuffer(string: "{\"v\":2,\"new\":[1,{}],\"message\":{\"status\":{}}}\n"))
                let reply = try #require(try await inbound.next())
                #expect(String(buffer: reply).contains("kitchen"))
            }
        }
    }

    @Test("an endless line ends its connection, and no other one")
    func hugeLine() async throws {
        try await withServer { socket, _ in
            let piece = String(repeating: "x", count: 60_000)
            let answer = try await say(Array(repeating: piece, count: 50), to: socket)
            #expect(answer == "")
            try await expect(.status(status), to: .status, at: socket)
        }
    }

    @Test("a request in pieces and several requests in one piece are answered one by one")
    func pieces() async throws {
        let count = Recorder<Int>()
        try await withServer { _ in
            count.record(count.count)
            return .refused("\(count.count)")
        } _: { socket, _ in
            let line = String(buffer: try ControlCoding.line(ControlRequest.status))
            try await bare(socket) { inbound, outbound in
                for character in line { try await outbound.write(ByteBuffer(string: String(character))) }
                try await outbound.write(ByteBuffer(string: line + line))
                var received = ""
                for try await piece in inbound {
                    received += String(buffer: piece)
                    if received.count(where: { $0 == "\n" }) == 3 { break }
                }
                #expect(received.contains("\"1\"") && received.contains("\"2\"") && received.contains("\"3\""))
            }
        }
    }

    @Test("many clients at the same time are all answered or turned away, and the server lives")
    func manyClients() async throws {
        try await withServer { socket, _ in
            let answered = await withTaskGroup(of: Bool.self) { tasks in
                for _ in 0..<200 {
                    tasks.addTask { (try? await ControlClient.ask(.status, at: socket, on: group)) == .status(status) }
                }
                return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(answered >= 32)
            try await expect(.status(status), to: .status, at: socket)
        }
    }

    @Test("clients that hang delay no other client, however many there are", arguments: [false, true])
    func hangingClients(areServed: Bool) async throws {
        try await withServer { socket, _ in
            let (seated, leave) = (Recorder<Void>(), Gate())
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for count in 1...64 {
                    tasks.addTask {
                        try? await bare(socket, proving: areServed) { inbound, outbound in
                            var inbound = inbound.makeAsyncIterator()
                            if areServed {
                                // After one answered request the connection surely has a place.
                                try await outbound.write(try ControlCoding.line(ControlRequest.status))
                                _ = try await inbound.next()
                            }
                            seated.record(())
                            await leave.wait()
                        }
                        // This connection came too late to be answered.
                        seated.record(())
                    }
                    try await seated.element(count)
                }
                for _ in 0..<8 { try await expect(.status(status), to: .status, at: socket) }
                leave.open()
                try await tasks.waitForAll()
            }
            for _ in 0..<40 { try await expect(.status(status), to: .status, at: socket) }
        }
    }

    @Test("clients that ask and do not read the answer give up their places too")
    func deafClients() async throws {
        let long = ControlReply.refused(String(repeating: "x", count: 1 << 20))
        try await withServer { request in
            request == .offers ? long : .status(status)
        } _: { socket, _ in
            var deaf: [BareSocket] = []
            for _ in 0..<40 {
                let client = try BareSocket(socket)
                for _ in 0..<4 { client.write(String(buffer: try ControlCoding.line(ControlRequest.offers))) }
                deaf.append(client)
            }
            for _ in 0..<8 { try await expect(.status(status), to: .status, at: socket) }
            withExtendedLifetime(deaf) {}
        }
    }

    @Test("a client that is being served is not turned out for another")
    func busy() async throws {
        let (asked, answer) = (Gate(), Gate())
        try await withServer { request in
            guard request == .lookAgain else { return .status(status) }
            asked.open()
            await answer.wait()
            return .done
        } _: { socket, _ in
            async let slow: Void = expect(.done, to: .lookAgain, at: socket)
            await asked.wait()
            var idle: [BareSocket] = []
            for _ in 0..<64 { idle.append(try BareSocket(socket)) }
            try await expect(.status(status), to: .status, at: socket)
            answer.open()
            try await slow
            withExtendedLifetime(idle) {}
        }
    }

    @Test("a daemon that does not answer is not waited for longer than the timeout")
    func silentDaemon() async throws {
        let forever = Gate()
        try await withServer { _ in
            await forever.wait()
            return .done
        } _: { socket, _ in
            let error = await #expect(throws: ControlError.self) {
                try await ControlClient.ask(.status, at: socket, on: group, timeout: .milliseconds(20))
            }
            #expect(error?.code == .broken)
            forever.open()
        }
    }

    @Test("a daemon that answers nonsense, or nothing, is broken", arguments: ["nonsense\n", "{}\n", "", "half a li"])
    func nonsense(text: String) async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        _ = try ControlSecret.make(for: socket)
        let listener = try await ServerBootstrap(group: group).bind(unixDomainSocketPath: socket.path) { channel in
            channel.eventLoop.makeCompletedFuture {
                try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        try await listener.executeThenClose { connections in
            async let asking = ControlClient.ask(.status, at: socket, on: group)
            for try await connection in connections {
                try await connection.executeThenClose { inbound, outbound in
                    for try await _ in inbound { break }
                    try? await outbound.write(ByteBuffer(string: text))
                }
                break
            }
            do {
                _ = try await asking
                Issue.record("it was taken for an answer")
            } catch let error as ControlError {
                #expect(error.code == .broken)
            }
        }
    }
}

@Suite("The place of the control socket", .timeLimit(.minutes(1)))
struct ControlSocketTests {
    @Test("if no process listens, the daemon is not running", arguments: ["nothing", "a file", "a stale socket"])
    func notRunning(what: String) async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        if what == "a file" { folder.file("control", "x") }
        if what == "a stale socket" { leaveStaleSocket(socket) }
        let error = await #expect(throws: ControlError.self) {
            try await ControlClient.ask(.status, at: socket, on: group)
        }
        #expect(error?.code == .notRunning)
    }

    @Test("a second server is refused, and the first one stays")
    func second() async throws {
        try await withServer { socket, _ in
            let error = await #expect(throws: ControlError.self) {
                _ = try await ControlServer.bind(socket, on: group, logger: logger)
            }
            #expect(error?.code == .alreadyRunning)
            try await expect(.status(status), to: .status, at: socket)
        }
    }

    @Test("of many servers that start at the same moment one runs", arguments: 0..<5)
    func race(round: Int) async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        let servers = await withTaskGroup(of: ControlServer?.self) { tasks in
            for _ in 0..<8 {
                tasks.addTask(executorPreference: ThreadForEachJob()) {
                    try? await ControlServer.bind(socket, on: group, logger: logger)
                }
            }
            var servers: [ControlServer] = []
            for await server in tasks { if let server { servers.append(server) } }
            return servers
        }
        #expect(servers.count == 1)
        let server = try #require(servers.first)
        let running = Task { await server.run { _ in .done } }
        try await expect(.done, to: .status, at: socket)
        running.cancel()
        await running.value
    }

    @Test("a socket that a crash left behind is replaced, as is a file in its place")
    func stale() async throws {
        for what in ["socket", "file"] {
            let folder = TemporaryFolder()
            let socket = try ControlSocket(folder: folder.path)
            if what == "socket" { leaveStaleSocket(socket) } else { folder.file("control", "x") }
            let server = try await ControlServer.bind(socket, on: group, logger: logger)
            let running = Task { await server.run { _ in .done } }
            try await expect(.done, to: .status, at: socket)
            running.cancel()
            await running.value
        }
    }

    @Test("when the server stops the socket is gone, and another server can come")
    func stop() async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        for _ in 0..<3 {
            let server = try await ControlServer.bind(socket, on: group, logger: logger)
            let running = Task { await server.run { _ in .done } }
            try await expect(.done, to: .status, at: socket)
            running.cancel()
            await running.value
            #expect(folder.names == ["control.lock"])
        }
    }

    @Test("a server that stops ends the connections it has")
    func stopWithClients() async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        let server = try await ControlServer.bind(socket, on: group, logger: logger)
        let seated = Gate()
        let running = Task {
            await server.run { _ in
                seated.open()
                return .done
            }
        }
        let line = String(buffer: try ControlCoding.line(ControlRequest.status))
        let client = Task { try await say([line], to: socket) }
        await seated.wait()
        running.cancel()
        await running.value
        // The answer may be lost if the server stops at that moment. The connection ends in any case, and this call
        // returns only after that.
        let answer = try await client.value
        #expect(answer.isEmpty || answer.contains("done"))
    }

    @Test("a server that was bound and never served does no harm and leaves no socket")
    func neverServed() async throws {
        let folder = TemporaryFolder()
        let socket = try ControlSocket(folder: folder.path)
        do { _ = try await ControlServer.bind(socket, on: group, logger: logger) }
        #expect(folder.names == ["control.lock"])
        _ = try await ControlServer.bind(socket, on: group, logger: logger)
    }

    @Test("a folder that is not there is an error, not a crash")
    func noFolder() async throws {
        let socket = try ControlSocket(folder: "/nowhere/at/all")
        let error = await #expect(throws: ControlError.self) {
            _ = try await ControlServer.bind(socket, on: group, logger: logger)
        }
        #expect(error?.code == .broken)
    }

    @Test("a lock that is another user's link is not followed")
    func linkedLock() async throws {
        let folder = TemporaryFolder()
        let elsewhere = TemporaryFolder()
        symlink(elsewhere / "victim", folder / "control.lock")
        let socket = try ControlSocket(folder: folder.path)
        await #expect(throws: ControlError.self) { _ = try await ControlServer.bind(socket, on: group, logger: logger) }
        #expect(elsewhere.names.isEmpty)
    }

    @Test("a path that fits no socket address is an error that says what to do")
    func tooLong() throws {
        let longest = String(repeating: "a", count: ControlSocket.maximumPathBytes - "/control".utf8.count)
        #expect(try ControlSocket(folder: longest).path.utf8.count == 107)
        let error = #expect(throws: ControlError.self) { try ControlSocket(folder: longest + "a") }
        #expect(error?.code == .pathTooLong)
        #expect(error?.description.contains("WAFT_HOME") == true)
        #expect(throws: ControlError.self) { try ControlSocket(folder: String(repeating: "ä", count: 54)) }
    }

    /// Leaves a socket without a listener, as a killed process does.
    private func leaveStaleSocket(_ socket: ControlSocket) {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.path.utf8.prefix($0.count - 1)) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(isBound == 0)
        close(descriptor)
    }
}

/// Runs each job on its own thread: `bind` blocks its thread while another server has the lock.
private final class ThreadForEachJob: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
