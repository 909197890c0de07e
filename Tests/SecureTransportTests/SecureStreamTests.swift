import COpenSSL
import Foundation
import NIOCore
import Sharing
import Testing

@testable import SecureTransport

@Suite("A stream on a thread", .timeLimit(.minutes(1)))
struct SecureStreamTests {
    private static let parts = [1, 7, 16_384, 300_001, 2, 491_511, 20_000].enumerated().map {
        noise($1, seed: UInt64($0))
    }
    private static let whole = parts.flatMap { $0 }
    /// More than a socket holds.
    private static let large = noise(8 << 20)

    @Test("carries bytes in both directions, in their order, and ends on both sides")
    func bothWays() async throws {
        let pair = try StreamPair()
        let far = try pair.farStream()
        async let echoed = onThread {
            for part in Self.parts { #expect(far.sendAll(part).error == nil) }
            let back = far.receiveAll(Self.whole.count)
            far.close(lingering: SecureStream.ample)
            return back.bytes
        }
        let received = await onThread {
            let (bytes, error) = pair.stream.receiveAll(Self.whole.count)
            #expect(error == nil)
            #expect(pair.stream.sendAll(bytes).error == nil)
            #expect(pair.stream.receiveAll() == ([], nil))
            pair.stream.close(lingering: SecureStream.ample)
            return bytes
        }
        #expect(received == Self.whole)
        #expect(await echoed == Self.whole)
    }

    @Test("gives what had come before first, as plaintext or still encrypted")
    func early() async throws {
        let pair = try StreamPair(early: [1, 2, 3])
        pair.write(try pair.ciphertext([4, 5]))
        #expect(await onThread { pair.stream.receiveAll(5) } == ([1, 2, 3, 4, 5], nil))
        let other = try StreamPair(early: [1, 2, 3])
        #expect(await onThread { other.stream.sendAll(Self.large, isListening: true) } == ([1, 2, 3], nil))
    }

    @Test("takes records that come in pieces of any size", arguments: [1, 3, 1_000])
    func pieces(size: Int) async throws {
        let pair = try StreamPair()
        let bytes = noise(20_000)
        let ciphertext = try pair.ciphertext(bytes)
        async let received = onThread { pair.stream.receiveAll(bytes.count) }
        for start in stride(from: 0, to: ciphertext.count, by: size) {
            pair.write(Array(ciphertext[start..<min(start + size, ciphertext.count)]))
        }
        #expect(await received == (bytes, nil))
    }

    @Test("does not wait longer than it may for a peer that sends nothing, or half a record", arguments: [true, false])
    func silent(halfRecord: Bool) async throws {
        let pair = try StreamPair()
        if halfRecord { pair.write(Array(try pair.ciphertext(noise(100)).dropLast())) }
        #expect(await onThread { pair.stream.receiveAll(within: .milliseconds(50)) } == ([], .silent))
        // It is over.
        #expect(await onThread { pair.stream.receiveAll() } == ([], .silent))
        await onThread { pair.stream.close(lingering: SecureStream.ample) }
    }

    @Test("a turn ends with words of the peer, when all has left, with a nudge, or at its time, and the stream goes on")
    func turns() async throws {
        let pair = try StreamPair()
        let nudge = try Nudge()
        let far = try pair.farStream()
        let turns = await onThread { () -> [[UInt8]?] in
            var bytes = ByteBuffer(bytes: [1, 2, 3])
            var turns: [[UInt8]?] = []
            func turn(within time: TimeAmount) {
                let heard = try? pair.stream.turn(&bytes, until: .now() + time, nudge: nudge)
                turns.append(heard.map { Array($0.readableBytesView) })
            }
            turn(within: .hours(1))
            turn(within: .milliseconds(10))
            nudge.ring()
            nudge.ring()
            turn(within: .hours(1))
            #expect(far.sendAll([4, 5]).error == nil)
            turn(within: .hours(1))
            return turns
        }
        #expect(turns == [nil, nil, nil, [4, 5]])
        #expect(await onThread { far.receiveAll(3) } == ([1, 2, 3], nil))
    }

    @Test("a turn that waits ends when another thread nudges, and fails when it interrupts or when the peer has gone")
    func wokenTurns() async throws {
        let pair = try StreamPair()
        let nudge = try Nudge()
        let turn: @Sendable () -> SecureStreamError? = {
            var nothing = ByteBuffer()
            do throws(SecureStreamError) {
                _ = try pair.stream.turn(&nothing, until: .distantFuture, nudge: nudge)
                return nil
            } catch {
                return error
            }
        }
        async let first = onThread(turn)
        nudge.ring()
        #expect(await first == nil)
        async let second = onThread(turn)
        pair.stream.interrupt()
        #expect(await second == .interrupted)
        let other = try StreamPair()
        other.endSocket()
        let gone = await onThread { () -> SecureStreamError? in
            var nothing = ByteBuffer()
            do throws(SecureStreamError) {
                _ = try other.stream.turn(&nothing, until: .distantFuture, nudge: nudge)
                return nil
            } catch {
                return error
            }
        }
        #expect(gone == .closed)
    }

    @Test("does not wait longer than it may for a peer that takes nothing", arguments: [true, false])
    func takesNothing(isListening: Bool) async throws {
        let pair = try StreamPair()
        let sent = await onThread {
            pair.stream.sendAll(Self.large, within: .milliseconds(50), isListening: isListening)
        }
        #expect(sent == (nil, .silent))
    }

    @Test("a peer that shows that it is alive draws a wait out to its maximum and no further")
    func timeout() {
        var timeout = PeerTimeout(.seconds(60), atMost: .seconds(100))
        let first = timeout.deadline
        timeout.heard()
        #expect(timeout.deadline > first)
        var (bounded, single) = (PeerTimeout(.seconds(60), atMost: .seconds(10)), PeerTimeout(.seconds(60)))
        let (end, only) = (bounded.deadline, single.deadline)
        bounded.heard()
        single.heard()
        #expect(bounded.deadline == end && single.deadline == only)
        #expect(PeerTimeout(.seconds(Int64.max)).deadline > .now() + .hours(24 * 365))
    }

    @Test("a connection that is cut, in a record or between two, is no end of the stream", arguments: [0, 1])
    func cut(missing: Int) async throws {
        let pair = try StreamPair()
        let ciphertext = try pair.ciphertext(noise(10_000))
        pair.write(ciphertext.dropLast(missing))
        pair.endSocket()
        let (bytes, error) = await onThread { pair.stream.receiveAll() }
        #expect(bytes == (missing == 0 ? noise(10_000) : []))
        #expect(error == .closed)
        #expect(await onThread { pair.stream.sendAll([1]) } == (nil, .closed))
    }

    @Test("a record that was changed on its way ends the stream behind what came before")
    func corrupted() async throws {
        let pair = try StreamPair()
        pair.write(try pair.ciphertext([1, 2]))
        var ciphertext = try pair.ciphertext([3, 4])
        ciphertext[ciphertext.count - 1] ^= 1
        pair.write(ciphertext)
        #expect(await onThread { pair.stream.receiveAll() } == ([1, 2], .closed))
    }

    @Test("another thread ends its wait for the peer, in either direction")
    func interrupted() async throws {
        let receiving = try StreamPair()
        async let received = onThread { receiving.stream.receiveAll() }
        try await Task.sleep(for: .milliseconds(5))
        receiving.stream.interrupt()
        #expect(await received == ([], .interrupted))
        let sending = try StreamPair()
        async let sent = onThread { sending.stream.sendAll(Self.large, isListening: true) }
        try await Task.sleep(for: .milliseconds(5))
        sending.stream.interrupt()
        #expect(await sent == (nil, .interrupted))
        // Before a wait, too.
        let before = try StreamPair()
        before.stream.interrupt()
        #expect(await onThread { before.stream.receiveAll() } == ([], .interrupted))
    }

    @Test("once interrupted it can still say its last words, for a short time", arguments: [true, false])
    func lastWords(isNoticed: Bool) async throws {
        let pair = try StreamPair()
        pair.stream.interrupt()
        if isNoticed { #expect(await onThread { pair.stream.receiveAll() }.error == .interrupted) }
        async let heard = onThread { try? pair.readFar() }
        await onThread {
            #expect(pair.stream.sendAll([7, 8]).error == nil)
            pair.stream.close(lingering: SecureStream.ample)
        }
        #expect(await heard == [7, 8])
        // A peer that takes nothing is not waited for.
        var limits = TransportLimits()
        limits.closeDeadline = .milliseconds(20)
        let deaf = try StreamPair(limits: limits)
        deaf.stream.interrupt()
        #expect(await onThread { deaf.stream.sendAll(Self.large) } == (nil, .silent))
    }

    @Test("hears what a peer says that takes nothing")
    func heard() async throws {
        let pair = try StreamPair()
        async let sent = onThread { pair.stream.sendAll(Self.large, isListening: true) }
        try await Task.sleep(for: .milliseconds(5))
        pair.write(try pair.ciphertext([9]))
        #expect(await sent == ([9], nil))
    }

    @Test("goes on with the rest after it was spoken to")
    func goesOn() async throws {
        let pair = try StreamPair()
        let far = try pair.farStream()
        async let received = onThread {
            #expect(far.sendAll([1]).error == nil)
            let half = far.receiveAll(1 << 20).bytes
            #expect(far.sendAll([2]).error == nil)
            return half + far.receiveAll(Self.large.count - half.count).bytes
        }
        let heard = await onThread {
            var (bytes, heard) = (ByteBuffer(bytes: Self.large), [UInt8]())
            while let more = try? pair.stream.send(&bytes, within: PeerTimeout(SecureStream.ample), isListening: true) {
                heard += more.readableBytesView
            }
            return heard + pair.stream.receiveAll(2 - heard.count).bytes
        }
        #expect(heard == [1, 2])
        #expect(await received == Self.large)
    }

    @Test("what a peer said before it closed can be read by one that was still sending")
    func saidBeforeClosing() async throws {
        let pair = try StreamPair()
        let far = try pair.farStream()
        await onThread {
            #expect(far.sendAll([5, 6]).error == nil)
            far.close(lingering: .zero)
        }
        shutdown(pair.farSocket, CInt(SHUT_RDWR))
        let sent = await onThread { pair.stream.sendAll(Self.large, isListening: true) }
        #expect(sent.heard == [5, 6])
    }

    @Test("a close waits for a peer that is still sending, and takes no more than a little of it")
    func lingers() async throws {
        let pair = try StreamPair()
        let far = try pair.farStream()
        async let sent = onThread {
            // It stops sending when it hears the answer.
            let heard = far.sendAll(Self.large, isListening: true)
            far.close(lingering: .zero)
            return heard
        }
        _ = await onThread { pair.stream.receiveAll(100) }
        await onThread {
            #expect(pair.stream.sendAll([1]).error == nil)
            pair.stream.close(lingering: .seconds(2))
        }
        #expect(await sent.heard == [1])
        // One that does not listen is left.
        let deaf = try StreamPair()
        deaf.write(try deaf.ciphertext(noise(150_000)))
        await onThread { deaf.stream.close(lingering: .milliseconds(10)) }
    }

    @Test("another thread can show the peer a sign of life while the stream's own is busy elsewhere")
    func signOfLife() async throws {
        let pair = try StreamPair()
        pair.stream.sendIfIdle(ByteBuffer(bytes: [1]))
        #expect(try pair.readFar(1) == [1])
        // Its own thread waits for the peer: this call sends nothing and does not wait.
        async let received = onThread { pair.stream.receiveAll(1) }
        let record = try pair.ciphertext([7])
        pair.write(Array(record.prefix(3)))
        while pair.unread > 0 { try await Task.sleep(for: .milliseconds(1)) }
        let turn = pair.stream.lastTurn
        pair.stream.sendIfIdle(ByteBuffer(bytes: [2]))
        pair.write(Array(record.dropFirst(3)))
        #expect(await received == ([7], nil))
        #expect(pair.stream.lastTurn > turn)
        pair.stream.sendIfIdle(ByteBuffer(bytes: [3]))
        #expect(try pair.readFar(1) == [3])
        // Nor does it wait where the socket takes nothing.
        for _ in 0..<10_000 { pair.stream.sendIfIdle(ByteBuffer(bytes: noise(1_000))) }
    }

    @Test("a peer may ask for new keys, and gets them")
    func newKeys() async throws {
        let pair = try StreamPair()
        pair.write(try pair.ciphertext([1]))
        #expect(SSL_key_update(pair.farEngine.connection, SSL_KEY_UPDATE_REQUESTED) == 1)
        pair.write(try pair.ciphertext(noise(200_000)) + pair.ciphertext([2]))
        #expect(await onThread { pair.stream.receiveAll(200_002) } == ([1] + noise(200_000) + [2], nil))
        #expect(await onThread { pair.stream.sendAll([3]) }.error == nil)
        #expect(try pair.readFar(1) == [3])
    }

    @Test("a stream that nobody has any more is closed")
    func released() throws {
        var pair: StreamPair? = try StreamPair()
        let far = try #require(pair).farSocket
        let copy = dup(far)
        defer { close(copy) }
        pair = nil
        var scrap: UInt8 = 0
        #expect(recv(copy, &scrap, 1, 0) == 0)
    }
}

@Suite("A connection that leaves its channel", .timeLimit(.minutes(1)))
struct LeavingTests {
    /// Makes the connection of a channel a stream.
    private static func leave(_ channel: any Channel, early: [UInt8] = []) async throws -> SecureStream {
        try await channel.eventLoop.submit { try channel.leave(early: ByteBuffer(bytes: early)) }.get()
    }

    @Test("goes on as a stream, on both sides, and the channels are closed")
    func both() async throws {
        let served = Signal<[UInt8]>()
        try await withListener { connection in
            let stream = try? await connection.output.executeThenClose { inbound, outbound in
                var inbound = inbound.makeAsyncIterator()
                // The channel has been used before.
                let first = try await inbound.next()
                let early = first ?? ByteBuffer()
                // In one step: the next bytes of the other side are for the stream.
                return try await connection.channel.eventLoop.submit {
                    connection.channel.writeAndFlush(ByteBuffer(bytes: [1]), promise: nil)
                    return try connection.channel.leave(early: early)
                }.get()
            }
            await served.fire(
                await onThread {
                    defer { stream?.close(lingering: .seconds(1)) }
                    return stream?.receiveAll().bytes ?? []
                })
        } _: { listener in
            let connection = try await dialer().dial(port: listener.port)
            let stream = try await connection.output.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(bytes: [5]))
                var inbound = inbound.makeAsyncIterator()
                #expect(try await inbound.next().map { Array($0.readableBytesView) } == [1])
                return try await Self.leave(connection.channel)
            }
            #expect(!connection.channel.isActive)
            await #expect(throws: (any Error).self) {
                try await connection.channel.writeAndFlush(ByteBuffer(bytes: [1])).get()
            }
            await onThread {
                #expect(stream.sendAll(noise(1_000_000)).error == nil)
                stream.close(lingering: SecureStream.ample)
            }
            #expect(await served.wait() == [5] + noise(1_000_000))
        }
    }

    @Test("stays in the channel while something written has not left, and when it is about to end")
    func refused() async throws {
        try await withListener { listener in
            let connection = try await dialer().dial(port: listener.port)
            try await connection.output.executeThenClose { inbound, _ in
                let channel = connection.channel
                try await channel.eventLoop.submit {
                    channel.write(ByteBuffer(bytes: [1]), promise: nil)
                    #expect(throws: (any Error).self) { try channel.leave(early: ByteBuffer()) }
                    channel.flush()
                }.get()
                var inbound = inbound.makeAsyncIterator()
                #expect(try await inbound.next().map { Array($0.readableBytesView) } == [1])
            }
            await #expect(throws: (any Error).self) { _ = try await Self.leave(connection.channel) }
        }
    }
}
