import COpenSSL
import NIOCore
import NIOPosix
import Sharing
import Testing

@testable import SecureTransport

/// Whole connections whose client has the kernel encrypt. All other tests of connections do so, too, where the kernel can.
@Suite(
    .enabled(
        if: KernelTLS.isOffered,
        "NOT TESTED: this kernel has no TLS of its own (modprobe tls); Scripts/kernel-tls tests it in a virtual machine"
    ))
struct KernelTLSTests {
    @Test(
        "what the kernel encrypts arrives as it was sent", arguments: [TLSProfile.CipherOrder.aesFirst, .chaCha20First])
    func echoed(_ order: TLSProfile.CipherOrder) async throws {
        var profile = TLSProfile.waft
        profile.cipherOrder = order
        let bytes = noise(5_000_017)
        try await withListener(profile: profile) { [profile] listener in
            let connection = try await dialer(profile: profile).dial(port: listener.port)
            #expect(try await connection.isTakenOver)
            #expect(try await connection.exchange(bytes) == bytes)
        }
    }

    @Test("a client that is not to have the kernel encrypt does it itself")
    func declined() async throws {
        var profile = TLSProfile.waft
        profile.kernelMayEncrypt = false
        try await withListener { [profile] listener in
            let connection = try await dialer(profile: profile).dial(port: listener.port)
            #expect(try await !connection.isTakenOver)
            #expect(try await connection.exchange(noise(1000)) == noise(1000))
        }
    }

    @Test("OpenSSL's server reads what the kernel encrypts, and hears of its end")
    func interoperates() async throws {
        let folder = try TemporaryFolder()
        _ = try Identity.load(orMakeIn: folder.path)
        let port = try await deadPort()
        let pem = "\(folder.path)/identity.pem"
        // -rev answers each line with its letters the other way round, and ends with the connection.
        async let server = shellBeside(
            "openssl s_server -accept \(port) -naccept 1 -alpn waft/1 -cert \(pem) -key \(pem) -verify 1 -rev",
            withErrors: true)
        let connection = try await dialUntilAnswered(port)
        #expect(try await connection.isTakenOver)
        #expect(try await connection.exchange(Array("olleh\n".utf8)) == Array("hello\n".utf8))
        let output = try await server
        #expect(output.contains("CONNECTION CLOSED"), "\(output)")
        #expect(!output.contains("unexpected eof"), "\(output)")
    }

    @Test("a peer that does not read gets everything, and the end after it, when it does")
    func backpressure() async throws {
        let isClosing = Signal<Void>()
        let received = Signal<Int>()
        let bytes = noise(1_000_000)
        try await withListener(onConnection: { connection in
            await isClosing.wait()
            var count = 0
            // A stream without the close_notify would throw.
            do {
                try await connection.output.executeThenClose { inbound, _ in
                    for try await buffer in inbound { count += buffer.readableBytes }
                }
            } catch { count = -1 }
            await received.fire(count)
        }) { listener in
            let connection = try await dialer(limits: .patient).dial(
                [DialAddress(host: "127.0.0.1", port: listener.port)]
            ) { channel, _ in channel }
            #expect(try await connection.channel.isTakenOver)
            // More than the kernel takes: the close_notify has to wait for room.
            for _ in 0..<20 { connection.output.write(ByteBuffer(bytes: bytes), promise: nil) }
            connection.output.flush()
            let closed = connection.output.closeFuture
            connection.output.close(promise: nil)
            await isClosing.fire(())
            try await closed.get()
            #expect(await received.wait() == 20_000_000)
        }
    }

    @Test("a server that asks for new keys ends the connection with a reason")
    func newKeys() async throws {
        try await withListener(onConnection: { connection in
            try? await connection.channel.eventLoop.submit {
                let engine = try connection.channel.tlsHandler().engine
                SSL_key_update(engine.connection, Int32(SSL_KEY_UPDATE_REQUESTED))
            }.get()
            await echo(connection)
        }) { listener in
            let connection = try await dialer().dial(port: listener.port)
            await #expect(throws: TLSError.newKeysAsked) {
                try await connection.output.executeThenClose { inbound, outbound in
                    try await outbound.write(ByteBuffer(string: "hello"))
                    for try await _ in inbound {}
                }
            }
        }
    }

    /// Dials until the server that is being started listens.
    private func dialUntilAnswered(_ port: Int) async throws -> SecureConnection<Bytes> {
        for _ in 0..<3000 {
            if let connection = try? await dialer().dial(port: port) { return connection }
            try await Task.sleep(for: .milliseconds(20))
        }
        return try await dialer().dial(port: port)
    }
}

extension SecureConnection {
    /// Whether the kernel encrypts what this side sends.
    fileprivate var isTakenOver: Bool {
        get async throws { try await channel.isTakenOver }
    }
}

extension Channel {
    fileprivate var isTakenOver: Bool {
        get async throws { try await eventLoop.submit { try self.tlsHandler().engine.isTakenOver }.get() }
    }
}
