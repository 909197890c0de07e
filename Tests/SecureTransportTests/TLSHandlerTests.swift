import NIOCore
import NIOEmbedded
import Sharing
import Testing

@testable import SecureTransport

@Suite struct TLSHandlerTests {
    // MARK: Handshake

    @Test("both layers above get the event of the handshake, with the peer's key")
    func handshake() throws {
        let pair = try HandlerPair.open()
        #expect(pair.client.tls.peerID == Identities.bob.peerID)
        #expect(pair.server.tls.peerID == Identities.alice.peerID)
    }

    @Test("a handler that is added to an active channel starts at once")
    func addedLate() throws {
        let loop = EmbeddedEventLoop()
        let wire = Wire()
        let channel = EmbeddedChannel(handler: wire, loop: loop)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/")).wait()
        let context = try TLSContext.make(role: .client, identity: Identities.alice, profile: .waft)
        try channel.pipeline.syncOperations.addHandler(TLSHandler(context: context))
        #expect(wire.written.readableBytes > 0)
        #expect(wire.reads == 1)
        try channel.close().wait()
        loop.run()
    }

    @Test("the handshake reads without being asked to by the layer above")
    func readsForItself() throws {
        let pair = try HandlerPair()
        pair.client.listener.asksForMore = false
        pair.server.listener.asksForMore = false
        try pair.connect()
        #expect(pair.server.wire.reads == 1)
        let hello = pair.client.wire.take()
        let half = try #require(hello.getSlice(at: hello.readerIndex, length: 100))
        pair.server.receive(half)
        #expect(pair.server.wire.reads == 2)
    }

    @Test("data that is written before the end of the handshake is sent after it")
    func earlyWrite() throws {
        let pair = try HandlerPair()
        try pair.client.connect()
        let early = pair.client.write(noise(100))
        #expect(early.outcome() == nil)
        try pair.server.connect()
        pair.settle()
        #expect(early.outcome() == .succeeded)
        #expect(pair.server.listener.received == noise(100))
        #expect(pair.server.listener.events.first == .handshakeCompleted(Identities.alice.peerID))
    }

    @Test("data that is written in the handshake's event is sent")
    func writeAtHandshake() throws {
        let pair = try HandlerPair()
        pair.client.listener.onHandshake = { $0.channel.writeAndFlush(ByteBuffer(bytes: noise(10)), promise: nil) }
        try pair.connect()
        pair.settle()
        #expect(pair.server.listener.received == noise(10))
    }

    @Test("a handshake that is not done in time fails, and the channel is closed")
    func handshakeDeadline() throws {
        let pair = try HandlerPair()
        try pair.connect()
        let early = pair.server.write(noise(10))
        pair.loop.advanceTime(by: .milliseconds(9_999))
        #expect(pair.server.channel.isActive)
        pair.loop.advanceTime(by: .milliseconds(1))
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.listener.events == [.error(.handshakeTimedOut), .inactive])
        #expect(early.outcome() == .failed("\(TLSError.handshakeTimedOut)"))
    }

    @Test("the handshake's deadline does not end an open connection")
    func deadlineIsOver() throws {
        let pair = try HandlerPair.open()
        pair.loop.advanceTime(by: .hours(1))
        #expect(pair.server.channel.isActive && pair.client.channel.isActive)
        _ = pair.client.write(noise(10))
        pair.settle()
        #expect(pair.server.listener.received == noise(10))
    }

    @Test("a client without TLS is recognized, and the channel is closed")
    func plainHTTP() throws {
        let pair = try HandlerPair()
        try pair.server.connect()
        pair.server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
        #expect(pair.server.listener.events == [.error(.notTLS)])
        #expect(pair.server.wire.closes == [.output])
        pair.loop.advanceTime(by: .seconds(1))
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.listener.events == [.error(.notTLS), .inactive])
    }

    @Test("a server that refused a client waits for it to close, but not while it keeps sending")
    func lingering() throws {
        let pair = try HandlerPair()
        try pair.server.connect()
        pair.server.receive(ByteBuffer(string: "GET"))
        for _ in 0..<4 {
            #expect(pair.server.channel.isActive)
            pair.server.receive(ByteBuffer(repeating: 0, count: TransportLimits.lingerBytes / 4))
        }
        pair.server.receive(ByteBuffer(repeating: 0, count: 1))
        #expect(!pair.server.channel.isActive)
    }

    @Test("a client that refuses a server sends the alert and closes at once")
    func clientRefuses() throws {
        let loop = EmbeddedEventLoop()
        let context = try TLSContext.make(role: .client, identity: Identities.alice, profile: .waft)
        let wire = Wire()
        let listener = Listener()
        let tls = try TLSHandler(context: context, pin: PeerPin(keys: [Identities.mallory.peerID]))
        let client = EmbeddedChannel(handlers: [wire, tls, listener], loop: loop)
        let server = try Side(.server, loop: loop)
        try client.connect(to: SocketAddress(unixDomainSocketPath: "/")).wait()
        try server.connect()
        server.receive(wire.take())
        wire.holdsWrites = true
        client.pipeline.fireChannelRead(server.wire.take())
        #expect(listener.events == [.error(.unexpectedPeer)])
        #expect(client.isActive, "the alert is still on its way")
        wire.release()
        #expect(!client.isActive)
        server.receive(wire.take())
        #expect(server.listener.events == [.error(.refusedByPeer)])
    }

    @Test("the end of the socket in the handshake is an error")
    func endInHandshake() throws {
        let pair = try HandlerPair()
        try pair.server.connect()
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.listener.events.first == .error(.closedInHandshake))
    }

    // MARK: Reading

    @Test("many records that come with one read are given as one buffer")
    func oneBuffer() throws {
        let pair = try HandlerPair.open()
        _ = pair.client.write(noise(200_000))
        pair.settle()
        #expect(pair.server.listener.received == noise(200_000))
        #expect(pair.server.listener.events == [.read(200_000), .readComplete])
    }

    @Test("nothing is decrypted that was not asked for, and it is given when it is")
    func demand() throws {
        let pair = try HandlerPair()
        pair.server.listener.asksForMore = false
        try pair.connect()
        pair.settle()
        _ = pair.client.write(noise(300_000))
        pair.settle()
        #expect(pair.server.listener.received.isEmpty)
        pair.server.channel.read()
        #expect(pair.server.listener.received == noise(300_000))
        #expect(pair.server.listener.events.last == .readComplete)
        let events = pair.server.listener.events.count
        pair.server.channel.read()
        #expect(pair.server.listener.events.count == events, "one demand, one answer")
    }

    @Test("a million bytes that wait are given in pieces of a limited size")
    func pieces() throws {
        let pair = try HandlerPair()
        pair.server.listener.asksForMore = false
        try pair.connect()
        pair.settle()
        _ = pair.client.write(noise(1_000_000))
        pair.settle()
        pair.server.channel.read()
        #expect(pair.server.listener.received == noise(1_000_000))
        let sizes = pair.server.listener.events.compactMap { event in
            if case .read(let count) = event { count } else { nil }
        }
        #expect(sizes.count == 4 && sizes.allSatisfy { $0 <= TransportLimits.plaintextBytes }, "\(sizes)")
    }

    @Test("a read of the socket that gives no plaintext is followed by another while there is demand")
    func readsAgain() throws {
        let pair = try HandlerPair.open()
        pair.server.listener.asksForMore = false
        _ = pair.client.write(noise(1000))
        let record = pair.client.wire.take()
        let reads = pair.server.wire.reads
        pair.server.receive(try #require(record.getSlice(at: 0, length: 500)))
        #expect(pair.server.wire.reads == reads + 1)
        pair.server.receive(try #require(record.getSlice(at: 500, length: record.readableBytes - 500)))
        #expect(pair.server.wire.reads == reads + 1)
        #expect(pair.server.listener.received == noise(1000))
    }

    @Test("data that comes with the end of the handshake waits until it is asked for")
    func dataWithHandshake() throws {
        let pair = try HandlerPair()
        pair.server.listener.asksForMore = false
        try pair.client.connect()
        _ = pair.client.write(noise(100))
        try pair.server.connect()
        pair.settle()
        #expect(pair.server.listener.events == [.handshakeCompleted(Identities.alice.peerID)])
        pair.server.channel.read()
        #expect(pair.server.listener.received == noise(100))
    }

    @Test("a read is always passed on, also when it could be answered at once")
    func readIsPassedOn() throws {
        let pair = try HandlerPair()
        pair.server.listener.asksForMore = false
        try pair.client.connect()
        _ = pair.client.write(noise(100))
        try pair.server.connect()
        pair.settle()
        let reads = pair.server.wire.reads
        pair.server.channel.read()
        #expect(pair.server.wire.reads == reads + 1)
    }

    @Test("an open connection that is idle keeps no input")
    func idle() throws {
        let pair = try HandlerPair.open()
        _ = pair.client.write(noise(100_000))
        pair.settle()
        #expect(!pair.server.tls.engine.hasUnreadInput)
        #expect(pair.server.tls.engine.unreadPlaintextBound == 0)
    }

    // MARK: Writing

    @Test("data that is not flushed is not sent")
    func unflushed() throws {
        let pair = try HandlerPair.open()
        pair.client.channel.write(ByteBuffer(bytes: noise(10)), promise: nil)
        #expect(pair.client.wire.written.readableBytes == 0)
        pair.client.channel.flush()
        pair.settle()
        #expect(pair.server.listener.received == noise(10))
    }

    @Test("small writes are joined into full records, in their order")
    func joined() throws {
        let pair = try HandlerPair.open()
        let data = noise(100_000)
        for start in stride(from: 0, to: data.count, by: 1000) {
            pair.client.channel.write(ByteBuffer(bytes: data[start..<start + 1000]), promise: nil)
        }
        pair.client.channel.flush()
        // Six full records and a short one; a record adds 22 bytes.
        #expect(pair.client.wire.writes.last == data.count + 7 * 22)
        pair.settle()
        #expect(pair.server.listener.received == data)
    }

    @Test(
        "large writes between small ones fill records, too",
        arguments: [(7, 262_144), (9, 16_384), (1, 16_383), (16_385, 3)]
    )
    func framed(small: Int, large: Int) throws {
        let pair = try HandlerPair.open()
        var expected: [UInt8] = []
        for index in 0..<8 {
            for count in [small, large, 0, 2] {
                let piece = noise(count, seed: UInt64(index))
                expected += piece
                pair.client.channel.write(ByteBuffer(bytes: piece), promise: nil)
            }
        }
        pair.client.channel.flush()
        let sent = pair.client.wire.writes.dropFirst(2).reduce(0, +)
        let records = (expected.count + 16_383) / 16_384
        #expect(sent == expected.count + records * 22)
        pair.settle()
        #expect(pair.server.listener.received == expected)
    }

    @Test("a large write leaves in batches of a limited size")
    func batches() throws {
        let pair = try HandlerPair.open()
        let before = pair.client.wire.writes.count
        _ = pair.client.write(noise(1_000_000))
        let batches = pair.client.wire.writes.dropFirst(before)
        #expect(batches.count == 3)
        #expect(batches.allSatisfy { $0 <= TLSEngine.ciphertextBound(of: TransportLimits.batchBytes) })
        pair.settle()
        #expect(pair.server.listener.received == noise(1_000_000))
    }

    @Test("a write's promise is kept when its last byte has left")
    func promises() throws {
        let pair = try HandlerPair.open()
        pair.client.wire.holdsWrites = true
        let first = pair.client.channel.write(ByteBuffer(bytes: noise(10)))
        let second = pair.client.channel.write(ByteBuffer(bytes: noise(600_000)))
        let empty = pair.client.channel.write(ByteBuffer())
        #expect(first.outcome() == nil)
        pair.client.channel.flush()
        #expect([first, second, empty].map { $0.outcome() } == [nil, nil, nil])
        pair.client.wire.release()
        #expect([first, second, empty].map { $0.outcome() } == [.succeeded, .succeeded, .succeeded])
    }

    @Test("nothing is encrypted for a channel that is not writable, and all of it when it is again")
    func writability() throws {
        let pair = try HandlerPair.open()
        pair.client.channel.isWritable = false
        let write = pair.client.write(noise(500_000))
        #expect(pair.client.wire.written.readableBytes == 0)
        #expect(write.outcome() == nil)
        pair.client.channel.isWritable = true
        pair.client.channel.pipeline.fireChannelWritabilityChanged()
        pair.settle()
        #expect(write.outcome() == .succeeded)
        #expect(pair.server.listener.received == noise(500_000))
    }

    @Test("writes that follow a completed write keep their order")
    func reentrantWrite() throws {
        let pair = try HandlerPair.open()
        let channel = pair.client.channel
        let first = channel.write(ByteBuffer(bytes: [1]))
        first.assumeIsolated().whenSuccess { channel.writeAndFlush(ByteBuffer(bytes: [3]), promise: nil) }
        channel.writeAndFlush(ByteBuffer(bytes: [2]), promise: nil)
        pair.settle()
        #expect(pair.server.listener.received == [1, 2, 3])
    }
}
