import Dispatch
import Glibc
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import Sharing
import Testing

@testable import SecureTransport

@Suite struct SecureListenerTests {
    @Test("a connection is handed over with the key of the peer, and data goes both ways")
    func connection() async throws {
        let peer = Signal<PeerID>()
        try await withListener(onConnection: { connection in
            await peer.fire(connection.peerID)
            await echo(connection)
        }) { listener in
            let connection = try await dialer().dial(port: listener.port)
            #expect(connection.peerID == Identities.bob.peerID)
            #expect(try await connection.exchange(noise(3_000_000)) == noise(3_000_000))
        }
        #expect(await peer.wait() == Identities.alice.peerID)
    }

    @Test("at the limit of open files the reason names the way to raise it")
    func noDescriptors() {
        let error = ListenerError(host: nil, port: 9_238, cause: IOError(errnoCode: EMFILE, reason: "socket"))
        #expect(error.code == .failed)
        #expect(
            error.description == "cannot listen on port 9238: Too many open files: the limit is reached; raise it with "
                + "ulimit -n")
    }

    @Test("a listener without TLS hands over the bytes of a peer that is unknown, by the same gate")
    func plain() async throws {
        let peer = Signal<PeerID>()
        let configuration = SecureListener.Configuration(
            host: "127.0.0.1",
            plainFor: Dialect(
                name: "plain", title: "Plain", proof: .never, givesReceipts: false, resumes: false))
        let listener = try await SecureListener.bind(configuration, group: sharedGroup, logger: silentLogger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run(configurePipeline: bytesPipeline) { connection in
                    await peer.fire(connection.peerID)
                    await echo(connection)
                }
            }
            let client = try await ClientBootstrap(group: sharedGroup).connect(host: "127.0.0.1", port: listener.port) {
                channel in
                channel.eventLoop.makeCompletedFuture { try Bytes(wrappingChannelSynchronously: channel) }
            }
            try await client.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "hello"))
                var text = ""
                for try await bytes in inbound {
                    text += String(buffer: bytes)
                    if text.utf8.count == 5 { break }
                }
                #expect(text == "hello")
            }
            #expect(await peer.wait().unprovenBy?.name == "plain")
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test("both ends of a connection export the same secret")
    func export() async throws {
        let secret = Signal<[UInt8]>()
        try await withListener(onConnection: { connection in
            await secret.fire((try? await connection.exportKeyingMaterial(label: "l", context: [1], length: 32)) ?? [])
            await echo(connection)
        }) { listener in
            let connection = try await dialer().dial(port: listener.port)
            let mine = try await connection.exportKeyingMaterial(label: "l", context: [1], length: 32)
            #expect(mine.count == 32)
            #expect(await secret.wait() == mine)
            _ = try await connection.exchange([1])
        }
    }

    @Test("a listener on all addresses is reached by both families")
    func dualStack() async throws {
        try await withListener(host: nil) { listener in
            for host in ["127.0.0.1", "::1"] {
                let connection = try await dialer().dial(
                    [DialAddress(host: host, port: listener.port)],
                    configurePipeline: bytesPipeline
                )
                #expect(try await connection.exchange([1, 2, 3]) == [1, 2, 3])
            }
        }
    }

    @Test("a thousand idle connections from one address do not keep a real one out")
    func idleConnections() async throws {
        try raiseDescriptorLimit()
        try await withListener { listener in
            var idle: [PlainSocket] = []
            for _ in 0..<1000 { idle.append(try PlainSocket(port: listener.port)) }
            let connection = try await dialer().dial(port: listener.port)
            #expect(try await connection.exchange(noise(100_000)) == noise(100_000))
            #expect(idle.count == 1000)
        }
    }

    @Test("half-open handshakes do not keep a real connection out, nor a running one up")
    func halfOpen() async throws {
        try await withListener { listener in
            let running = try await dialer().dial(port: listener.port)
            try await running.output.executeThenClose { inbound, outbound in
                var halfOpen: [PlainSocket] = []
                for _ in 0..<200 {
                    let socket = try PlainSocket(port: listener.port)
                    socket.send("\u{16}\u{3}\u{1}")
                    halfOpen.append(socket)
                }
                let connection = try await dialer().dial(port: listener.port)
                #expect(try await connection.exchange([1]) == [1])
                let echoed = try await SecureConnection<Bytes>.exchange(noise(100_000), inbound, outbound)
                #expect(echoed == noise(100_000))
                #expect(halfOpen.count == 200)
            }
        }
    }

    @Test("an unfinished connection makes room for a newer one, the oldest first")
    func eviction() async throws {
        var limits = TransportLimits.patient
        limits.unfinishedConnectionsPerAddress = 2
        try await withListener(limits: limits, group: singleGroup) { listener in
            let first = try PlainSocket(port: listener.port)
            let second = try PlainSocket(port: listener.port)
            let third = try PlainSocket(port: listener.port)
            await first.waitForEnd()
            let fourth = try PlainSocket(port: listener.port)
            await second.waitForEnd()
            #expect(third.descriptor != fourth.descriptor)
        }
    }

    @Test(
        "connections make room in the order in which they came, whichever of their event loops is behind",
        .timeLimit(.minutes(1)))
    func evictionAcrossLoops() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        var limits = TransportLimits.patient
        limits.unfinishedConnectionsPerAddress = 2
        try await withListener(limits: limits, group: group) { listener in
            let accepting = listener.server.eventLoop
            let other = try #require(group.makeIterator().first { $0 !== accepting })
            let isBehind = DispatchSemaphore(value: 0)
            other.execute { isBehind.wait() }
            let sockets = try (0..<6).map { _ in try PlainSocket(port: listener.port) }
            // The accepted connections are in, except for jobs of the other loop.
            for _ in 0..<10 { try await accepting.submit {}.get() }
            isBehind.signal()
            for socket in sockets.prefix(4) { await socket.waitForEnd() }
            for socket in sockets.suffix(2) { #expect(!socket.hasEnded) }
        }
        try await group.shutdownGracefully()
    }

    @Test("a connection whose handshake takes too long is closed")
    func handshakeDeadline() async throws {
        var limits = TransportLimits.patient
        limits.handshakeDeadline = .milliseconds(20)
        try await withListener(limits: limits) { listener in
            await (try PlainSocket(port: listener.port)).waitForEnd()
        }
    }

    @Test(
        "a connection without TLS is closed before any deadline",
        arguments: ["GET / HTTP/1.1\r\n\r\n", "\0\0\0\0", "\u{16}\u{3}\u{1}\u{0}\u{5}xxxxx"]
    )
    func notTLS(text: String) async throws {
        try await withListener { listener in
            let socket = try PlainSocket(port: listener.port)
            socket.send(text)
            await socket.waitForEnd()
        }
    }

    @Test("a peer with too many connections gets no more, others do, and it does when one has ended")
    func perPeer() async throws {
        var limits = TransportLimits.patient
        limits.connectionsPerPeer = 2
        try await withListener(limits: limits) { listener in
            let alice = try dialer()
            let one = try await alice.dial(port: listener.port)
            let two = try await alice.dial(port: listener.port)
            // The alert comes after the client's handshake, so the first read shows it.
            let refused = try await alice.dial(port: listener.port)
            #expect(await refused.exchangeOrNothing([1]).isEmpty)
            let other = try await dialer(Identities.mallory).dial(port: listener.port)
            #expect(try await other.exchange([1]) == [1])
            #expect(try await one.exchange([1]) == [1])
            // `one` has been closed in an orderly way, so the server knows.
            let three = try await Self.dialUntilAccepted(alice, listener.port)
            #expect(three == [2])
            #expect(try await two.exchange([1]) == [1])
        }
    }

    /// The server counts a connection until its own task for it has ended, which nothing tells a client.
    private static func dialUntilAccepted(_ dialer: SecureDialer, _ port: Int) async throws -> [UInt8] {
        while true {
            let answer = try await dialer.dial(port: port).exchangeOrNothing([2])
            if !answer.isEmpty { return answer }
            try Task.checkCancellation()
        }
    }

    @Test("a client without a certificate never reaches the layer above")
    func noCertificate() async throws {
        let reached = Signal<Bool>()
        try await withListener(onConnection: { _ in await reached.fire(true) }) { listener in
            let group = sharedGroup
            let context = try TLSContext.make(role: .client, identity: Identities.rsa, profile: .waft)
            let channel = try await ClientBootstrap(group: group)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(TLSHandler(context: context))
                    }
                }
                .connect(host: "127.0.0.1", port: listener.port).get()
            try await channel.closeFuture.get()
        }
        await reached.fire(false)
        #expect(await reached.wait() == false)
    }

    @Test("stopping closes the port, cancels what runs, and returns")
    func stop() async throws {
        let started = Signal<Void>()
        let cancelled = Signal<Bool>()
        let port = try await withListener(onConnection: { connection in
            await started.fire(())
            await echo(connection)
            await cancelled.fire(Task.isCancelled)
        }) { listener in
            let connection = try await dialer().dial(port: listener.port)
            connection.channel.closeFuture.whenComplete { _ in }
            await started.wait()
            return listener.port
        }
        #expect(await cancelled.wait())
        #expect(throws: IOError.self) { try PlainSocket(port: port) }
    }

    @Test("a listener that accepts no more closes its port, and returns when the last connection has ended")
    func stopAccepting() async throws {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: Identities.bob), group: sharedGroup, logger: silentLogger)
        let (isServed, wasCancelled) = (Signal<Void>(), Signal<Bool>())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run(configurePipeline: bytesPipeline) { connection in
                    await isServed.fire(())
                    await echo(connection)
                    await wasCancelled.fire(Task.isCancelled)
                }
            }
            let connection = try await dialer().dial(port: listener.port)
            try await connection.output.executeThenClose { inbound, outbound in
                // The client's handshake ends first: the listener may not have handed the connection on yet.
                await isServed.wait()
                await listener.stopAccepting()
                try await listener.server.closeFuture.get()
                #expect(throws: IOError.self) { try PlainSocket(port: listener.port) }
                let echoed = try await SecureConnection<Bytes>.exchange(noise(100_000), inbound, outbound)
                #expect(echoed == noise(100_000))
            }
            try await group.waitForAll()
        }
        #expect(await wasCancelled.wait() == false)
    }

    @Test("a listener that is stopped before anybody came returns")
    func stopAtOnce() async throws {
        try await withListener { _ in }
    }

    @Test("a listener that never ran can be closed")
    func closed() async throws {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: Identities.bob),
            group: sharedGroup,
            logger: silentLogger
        )
        await listener.close()
        #expect(throws: IOError.self) { try PlainSocket(port: listener.port) }
    }

    @Test("a used port and an address of another machine are distinguished")
    func bindErrors() async throws {
        try await withListener { listener in
            var configuration = SecureListener.Configuration(host: "127.0.0.1", identity: Identities.alice)
            configuration.port = listener.port
            await expectBindError(.addressInUse, configuration)
        }
        await expectBindError(.noSuchAddress, .init(host: "192.0.2.1", port: 1, identity: Identities.alice))
    }

    @Test("a pipeline that cannot be made closes the connection, and the listener goes on")
    func brokenPipeline() async throws {
        struct Broken: Error {}
        let isBroken = OnceFlag()
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: Identities.bob),
            group: sharedGroup,
            logger: silentLogger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run(
                    configurePipeline: { channel, peerID in
                        if isBroken.take() { throw Broken() }
                        return try bytesPipeline(channel, peerID)
                    },
                    onConnection: echo
                )
            }
            #expect(try await dialer().dial(port: listener.port).exchangeOrNothing([1]).isEmpty)
            #expect(try await dialer().dial(port: listener.port).exchange([1]) == [1])
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test("a slow identity is made at the first connection, once for all waiting connections")
    func identityMadeLate() async throws {
        let made = NIOLockedValueBox(0)
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", profile: .waft) {
                made.withLockedValue { $0 += 1 }
                return Identities.bob
            },
            group: sharedGroup, logger: silentLogger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listener.run(configurePipeline: bytesPipeline, onConnection: echo) }
            #expect(made.withLockedValue { $0 } == 0)
            try await withThrowingTaskGroup(of: Void.self) { dialing in
                for _ in 0..<8 {
                    dialing.addTask {
                        let bob: Set = [Identities.bob.peerID]
                        let connection = try await dialer().dial(port: listener.port, expecting: bob)
                        #expect(try await connection.exchange([1]) == [1])
                    }
                }
                try await dialing.waitForAll()
            }
            #expect(made.withLockedValue { $0 } == 1)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test("an identity that cannot be made closes the waiting connections, and is tried again for the next")
    func identityNotMade() async throws {
        struct NotMade: Error {}
        let isFirst = OnceFlag()
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", profile: .waft) {
                if isFirst.take() { throw NotMade() }
                return Identities.bob
            },
            group: sharedGroup, logger: silentLogger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listener.run(configurePipeline: bytesPipeline, onConnection: echo) }
            await #expect(throws: DialError.self) { _ = try await dialer().dial(port: listener.port) }
            #expect(try await dialer().dial(port: listener.port).exchange([1]) == [1])
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private func expectBindError(_ code: ListenerError.Code, _ configuration: SecureListener.Configuration) async {
        await #expect {
            _ = try await SecureListener.bind(configuration, group: sharedGroup, logger: silentLogger)
        } throws: { error in
            let error = error as? ListenerError
            #expect(error?.description.contains("cannot listen on \(configuration.host ?? "")") == true)
            return error?.code == code
        }
    }

    /// Room for both ends of a thousand connections, where the system's default is less.
    private func raiseDescriptorLimit() throws {
        var limit = rlimit()
        #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 4096))
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
    }
}
