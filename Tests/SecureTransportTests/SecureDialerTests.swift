import NIOCore
import NIOPosix
import Sharing
import Testing

@testable import SecureTransport

@Suite struct SecureDialerTests {
    @Test("the expected key is reached")
    func expectedKey() async throws {
        try await withListener { listener in
            let connection = try await dialer().dial(port: listener.port, expecting: [Identities.bob.peerID])
            #expect(try await connection.exchange([1]) == [1])
        }
    }

    @Test("a host name is resolved")
    func name() async throws {
        try await withListener(host: nil) { listener in
            let connection = try await dialer().dial(
                [DialAddress(host: "localhost", port: listener.port)],
                configurePipeline: bytesPipeline
            )
            #expect(try await connection.exchange([1]) == [1])
        }
    }

    // MARK: Errors

    @Test("a port where nothing listens is refused")
    func refused() async throws {
        let port = try await deadPort()
        try await expectError(.refused, "no program listens on this port", port: port)
    }

    @Test("a server that answers with plain HTTP is not TLS")
    func plainHTTP() async throws {
        try await withPlainServer(answer: "HTTP/1.1 400 Bad Request\r\n\r\n") { port in
            try await expectError(.notTLS, "plain text", port: port)
        }
    }

    @Test("a server that closes at once is reported as such")
    func closes() async throws {
        try await withPlainServer(answer: nil, closes: true) { port in
            try await expectError(.closed, "closed before TLS", port: port)
        }
    }

    @Test("a server that never answers is given up at the deadline")
    func silent() async throws {
        var limits = TransportLimits.patient
        limits.dialDeadline = .milliseconds(50)
        try await withPlainServer(answer: nil) { port in
            try await expectError(.noAnswer, "no answer", port: port, limits: limits)
        }
    }

    @Test("a TLS server without Waft's protocol is not Waft")
    func otherProtocol() async throws {
        for protocols in [[], ["http/1.1"]] {
            try await withListener(profile: TLSProfile(applicationProtocols: protocols)) { listener in
                try await expectError(.notWaft, "waft/1", port: listener.port)
            }
        }
    }

    @Test("a TLS server of an old version is not Waft")
    func oldVersion() async throws {
        var profile = TLSProfile.waft
        profile.versions = .tls12 ... .tls12
        try await withListener(profile: profile) { listener in
            try await expectError(.notWaft, "version", port: listener.port)
        }
    }

    @Test("another key than the expected one is reported, with its id")
    func wrongKey() async throws {
        try await withListener(identity: Identities.mallory) { listener in
            try await expectError(
                .wrongKey,
                Identities.mallory.peerID.short,
                port: listener.port,
                expecting: [Identities.bob.peerID]
            )
        }
    }

    @Test("a name without addresses is reported")
    func unknownName() async throws {
        try await expectError(.unknownName, "name", [DialAddress(host: "no such name", port: 1)])
    }

    @Test("no address at all is an error")
    func noAddress() async throws {
        try await expectError(.unknownName, "no address", [])
        try await expectError(.unknownName, "it has no address", [DialAddress(host: "127.0.0.1", port: 0)])
        try await expectError(.unknownName, "it has no address", [DialAddress(host: "127.0.0.1", port: 65_536)])
    }

    @Test("the failure at each address is reported, and the most telling one gives the kind")
    func aggregated() async throws {
        let dead = try await deadPort()
        try await withPlainServer(answer: "220 mail\r\n") { port in
            let addresses = [dead, port].map { DialAddress(host: "127.0.0.1", port: $0) }
            await #expect {
                _ = try await dialer().dial(addresses, configurePipeline: bytesPipeline)
            } throws: { error in
                guard let error = error as? DialError else { return false }
                #expect(error.failures.map(\.kind) == [.refused, .notTLS])
                #expect(error.description.contains("127.0.0.1:\(dead): no program listens on this port"))
                #expect(error.description.contains("127.0.0.1:\(port): the peer does not speak TLS"))
                return error.kind == .notTLS
            }
        }
    }

    @Test("a pipeline that cannot be made fails the dial with its own error")
    func brokenPipeline() async throws {
        struct Broken: Error {}
        try await withListener { listener in
            await #expect(throws: Broken.self) {
                _ = try await dialer().dial([DialAddress(host: "127.0.0.1", port: listener.port)]) { _, _ in
                    throw Broken()
                }
            }
        }
    }

    // MARK: Several addresses

    @Test("an address that refuses does not keep the next one waiting")
    func afterRefusal() async throws {
        var limits = TransportLimits.patient
        limits.headStart = .seconds(3600)
        let dead = try await deadPort()
        let dialer = try dialer(limits: limits)
        try await withListener { listener in
            let connection = try await dialer.dial(
                [DialAddress(host: "127.0.0.1", port: dead), DialAddress(host: "127.0.0.1", port: listener.port)],
                configurePipeline: bytesPipeline
            )
            #expect(try await connection.exchange([1]) == [1])
        }
    }

    @Test("an address that never answers is passed by the next one, and closed")
    func afterHeadStart() async throws {
        var limits = TransportLimits.patient
        limits.headStart = .milliseconds(10)
        let mute = try await MuteServer()
        let dialer = try dialer(limits: limits)
        try await withListener { listener in
            let connection = try await dialer.dial(
                [DialAddress(host: "127.0.0.1", port: mute.port), DialAddress(host: "127.0.0.1", port: listener.port)],
                configurePipeline: bytesPipeline
            )
            #expect(try await connection.exchange([1]) == [1])
            await mute.waitForClosing()
        }
        try await mute.close()
    }

    @Test("an impostor at the first address does not keep the right peer from being reached at the next")
    func impostor() async throws {
        try await withListener(identity: Identities.mallory) { impostor in
            try await withListener { listener in
                let connection = try await dialer().dial(
                    [impostor.port, listener.port].map { DialAddress(host: "127.0.0.1", port: $0) },
                    expecting: [Identities.bob.peerID],
                    configurePipeline: bytesPipeline
                )
                #expect(connection.peerID == Identities.bob.peerID)
                #expect(try await connection.exchange([1]) == [1])
            }
        }
    }

    @Test("cancelling a dial ends it at once and closes what it had opened")
    func cancellation() async throws {
        let mute = try await MuteServer()
        let task = Task { try await dialer().dial(port: mute.port) }
        await mute.waitForConnection()
        task.cancel()
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        await mute.waitForClosing()
        try await mute.close()
    }

    @Test("a dial of a task that is cancelled already opens nothing for long")
    func cancelledBefore() async throws {
        try await withListener { listener in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await dialer().dial(port: listener.port)
            }
            // It may have been won before; then it must be given, not dropped.
            if let connection = try? await task.value { _ = try? await connection.exchange([1]) }
        }
    }

    private func expectError(
        _ kind: DialError.Kind,
        _ text: String,
        port: Int,
        expecting: Set<PeerID>? = nil,
        limits: TransportLimits = .patient
    ) async throws {
        let address = DialAddress(host: "127.0.0.1", port: port)
        try await expectError(kind, text, [address], expecting: expecting, limits: limits)
    }

    private func expectError(
        _ kind: DialError.Kind,
        _ text: String,
        _ addresses: [DialAddress],
        expecting: Set<PeerID>? = nil,
        limits: TransportLimits = .patient
    ) async throws {
        let dialer = try dialer(limits: limits)
        await #expect {
            _ = try await dialer.dial(addresses, expecting: expecting, configurePipeline: bytesPipeline)
        } throws: { error in
            guard let error = error as? DialError else { return false }
            #expect(error.description.contains(text))
            #expect(!error.description.contains("\n"))
            return error.kind == kind
        }
    }

    @Test("a cancelled caller does not wait for a peer that reads nothing", .timeLimit(.minutes(1)))
    func cancelledWhileDraining() async throws {
        let readsNothing: @Sendable (SecureConnection<Bytes>) async -> Void = { connection in
            try? await connection.output.executeThenClose { _, _ in try await Task.sleep(for: .seconds(3600)) }
        }
        try await withListener(onConnection: readsNothing) { listener in
            let connection = try await dialer().dial(port: listener.port)
            let hasWritten = Signal<Void>()
            let work = Task {
                try await connection.channel.hurriedWhenCancelled {
                    try await connection.output.executeThenClose { _, _ in
                        // More than fits between the two.
                        connection.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 64 << 20), promise: nil)
                        await hasWritten.fire(())
                        try await Task.sleep(for: .seconds(3600))
                    }
                }
            }
            await hasWritten.wait()
            work.cancel()
            // Draining would take an hour.
            await #expect(throws: CancellationError.self) { try await work.value }
        }
    }
}

/// A TCP server that takes connections and says nothing, ever.
private struct MuteServer {
    private let server: any Channel
    private let connected: EventLoopPromise<Void>
    private let closed: EventLoopPromise<Void>

    var port: Int { server.localAddress?.port ?? 0 }

    init() async throws {
        let connected = sharedGroup.any().makePromise(of: Void.self)
        let closed = sharedGroup.any().makePromise(of: Void.self)
        server = try await ServerBootstrap(group: sharedGroup)
            .childChannelInitializer { channel in
                channel.closeFuture.cascade(to: closed)
                connected.succeed()
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.connected = connected
        self.closed = closed
    }

    func waitForConnection() async { try? await connected.futureResult.get() }
    func waitForClosing() async { try? await closed.futureResult.get() }
    func close() async throws {
        try await server.close()
        // A test may not have waited for it.
        connected.succeed()
        closed.succeed()
    }
}
