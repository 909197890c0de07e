import NIOCore
import NIOEmbedded
import Sharing
import Testing

@testable import SecureTransport

@Suite struct TLSHandlerClosingTests {
    @Test("closing sends a close_notify, waits for the peer's, and then closes")
    func orderly() throws {
        let pair = try HandlerPair.open()
        let closed = pair.client.channel.close()
        #expect(pair.client.wire.written.readableBytes > 0)
        #expect(pair.client.channel.isActive)
        pair.settle()
        #expect(closed.outcome() == .succeeded)
        #expect(!pair.client.channel.isActive && !pair.server.channel.isActive)
        #expect(pair.client.listener.events == [.inactive])
        #expect(pair.server.listener.events == [.inactive])
    }

    @Test("a peer that does not answer a close_notify is waited for until the deadline")
    func deadline() throws {
        let pair = try HandlerPair.open()
        let closed = pair.client.channel.close()
        pair.loop.advanceTime(by: .milliseconds(999))
        #expect(closed.outcome() == nil)
        pair.loop.advanceTime(by: .milliseconds(1))
        #expect(closed.outcome() == .succeeded)
        #expect(!pair.client.channel.isActive)
    }

    @Test("a second close joins the first")
    func twice() throws {
        let pair = try HandlerPair.open()
        let first = pair.client.channel.close()
        let sent = pair.client.wire.written.readableBytes
        let second = pair.client.channel.close()
        #expect(pair.client.wire.written.readableBytes == sent)
        #expect(second.outcome() == nil)
        pair.settle()
        #expect(first.outcome() == .succeeded)
        #expect(second.outcome() == .succeeded)
    }

    @Test("both sides may close at the same time")
    func crossing() throws {
        let pair = try HandlerPair.open()
        let closes = [pair.client.channel.close(), pair.server.channel.close()]
        pair.settle()
        #expect(closes.map { $0.outcome() } == [.succeeded, .succeeded])
    }

    @Test("flushed data is sent before the close_notify, and other data is discarded")
    func flushed() throws {
        let pair = try HandlerPair.open()
        let flushed = pair.client.write(noise(600_000))
        let unflushed = pair.client.channel.write(ByteBuffer(bytes: [1]))
        _ = pair.client.channel.close()
        let late = pair.client.write([2])
        #expect(unflushed.outcome() == .failed("\(ChannelError.ioOnClosedChannel)"))
        #expect(late.outcome() == .failed("\(ChannelError.ioOnClosedChannel)"))
        pair.settle()
        #expect(flushed.outcome() == .succeeded)
        #expect(pair.server.listener.received == noise(600_000))
        #expect(pair.server.listener.events.last == .inactive)
    }

    @Test("flushed data has its own time limit, which starts again with each part that leaves")
    func draining() throws {
        let pair = try HandlerPair.open()
        pair.client.channel.isWritable = false
        let write = pair.client.write(noise(10))
        let closed = pair.client.channel.close()
        pair.loop.advanceTime(by: .seconds(9))
        pair.client.channel.isWritable = true
        pair.client.wire.holdsWrites = true
        pair.client.channel.pipeline.fireChannelWritabilityChanged()
        pair.loop.advanceTime(by: .seconds(9))
        #expect(write.outcome() == nil)
        #expect(closed.outcome() == nil)
        pair.client.wire.release()
        #expect(write.outcome() == .succeeded)
        pair.loop.advanceTime(by: .milliseconds(999))
        #expect(closed.outcome() == nil)
        pair.loop.advanceTime(by: .milliseconds(1))
        #expect(closed.outcome() == .succeeded)
    }

    @Test("in a hurry there is no time to drain", arguments: [true, false])
    func hurried(beforeClosing: Bool) throws {
        let pair = try HandlerPair.open()
        pair.client.channel.isWritable = false
        _ = pair.client.write(noise(10))
        if beforeClosing { pair.client.channel.triggerUserOutboundEvent(TLSHurry(), promise: nil) }
        let closed = pair.client.channel.close()
        if !beforeClosing { pair.client.channel.triggerUserOutboundEvent(TLSHurry(), promise: nil) }
        pair.loop.advanceTime(by: .milliseconds(999))
        #expect(closed.outcome() == nil)
        pair.loop.advanceTime(by: .milliseconds(1))
        #expect(closed.outcome() == .succeeded)
    }

    @Test("in a hurry a peer that does not answer is waited for a second, however long it would be otherwise")
    func hurriedAfterwards() throws {
        var limits = TransportLimits()
        limits.closeDeadline = .seconds(10)
        let pair = try HandlerPair.open(limits: limits)
        let closed = pair.client.channel.close()
        pair.loop.advanceTime(by: .seconds(5))
        #expect(closed.outcome() == nil)
        pair.client.channel.triggerUserOutboundEvent(TLSHurry(), promise: nil)
        pair.loop.advanceTime(by: .seconds(1))
        #expect(closed.outcome() == .succeeded)
    }

    @Test("a broken record while closing closes at once")
    func brokenWhileClosing() throws {
        let pair = try HandlerPair.open()
        let closed = pair.client.channel.close()
        pair.client.receive(ByteBuffer(bytes: [0x17, 0x03, 0x03, 0x00, 0x20] + noise(32)))
        #expect(closed.outcome() == .succeeded)
    }

    @Test("flushed data waits for the channel also while closing, until the deadline")
    func unwritable() throws {
        let pair = try HandlerPair.open()
        pair.client.channel.isWritable = false
        let write = pair.client.write(noise(10))
        let closed = pair.client.channel.close()
        #expect(pair.client.wire.written.readableBytes == 0)
        pair.loop.advanceTime(by: .seconds(10))
        #expect(closed.outcome() == .succeeded)
        #expect(write.outcome() == .failed("\(ChannelError.ioOnClosedChannel)"))
    }

    @Test("a closing side reads by itself and discards data before the peer's close_notify")
    func discards() throws {
        let pair = try HandlerPair.open()
        pair.client.listener.asksForMore = false
        let reads = pair.client.wire.reads
        let closed = pair.client.channel.close()
        #expect(pair.client.wire.reads == reads + 1)
        _ = pair.server.write(noise(400_000))
        pair.client.receive(pair.server.wire.take())
        #expect(pair.client.wire.reads == reads + 2)
        #expect(pair.client.listener.received.isEmpty)
        #expect(closed.outcome() == nil)
        pair.settle()
        #expect(closed.outcome() == .succeeded)
    }

    @Test("the end of the socket is as good as a close_notify to a side that is closing itself")
    func endWhileClosing() throws {
        let pair = try HandlerPair.open()
        let closed = pair.client.channel.close()
        pair.client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(closed.outcome() == .succeeded)
        #expect(pair.client.listener.events == [.inactive])
    }

    @Test("closing before the handshake is done closes at once")
    func inHandshake() throws {
        let pair = try HandlerPair()
        try pair.connect()
        let write = pair.client.write([1])
        let closed = pair.client.channel.close()
        #expect(closed.outcome() == .succeeded)
        #expect(write.outcome() == .failed("\(ChannelError.ioOnClosedChannel)"))
    }

    @Test("a stream that ends without a close_notify is reported as truncated, after its data")
    func truncated() throws {
        let pair = try HandlerPair.open()
        _ = pair.client.write(noise(100))
        pair.server.receive(pair.client.wire.take())
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.listener.events.prefix(3) == [.read(100), .readComplete, .error(.truncated)])
        pair.loop.advanceTime(by: .seconds(1))
        #expect(pair.server.listener.events.last == .inactive)
    }

    @Test("a channel that ends without a close_notify was truncated, and its received data is still delivered")
    func truncatedByInactivity() throws {
        let pair = try HandlerPair()
        pair.server.listener.asksForMore = false
        try pair.connect()
        pair.settle()
        _ = pair.client.write(noise(100))
        pair.settle()
        pair.server.wire.cut()
        #expect(pair.server.listener.received == noise(100))
        #expect(pair.server.listener.events.suffix(2) == [.error(.truncated), .inactive])
    }

    @Test("a reset is reported once, and not as truncation besides")
    func reset() throws {
        let pair = try HandlerPair.open()
        pair.server.channel.pipeline.fireErrorCaught(IOError(errnoCode: 104, reason: "read"))
        pair.server.wire.cut()
        #expect(pair.server.listener.events == [.error(nil), .inactive])
    }

    @Test("a broken record fails the connection, and the peer gets an alert")
    func brokenRecord() throws {
        let pair = try HandlerPair.open()
        let write = pair.server.channel.write(ByteBuffer(bytes: [1]))
        pair.server.receive(ByteBuffer(bytes: [0x17, 0x03, 0x03, 0x00, 0x20] + noise(32)))
        #expect(pair.server.listener.events == [.error(.corrupted)])
        #expect(write.outcome() != .succeeded)
        pair.settle()
        #expect(pair.client.listener.events.first == .error(.refusedByPeer))
        pair.loop.advanceTime(by: .seconds(1))
        #expect(!pair.server.channel.isActive)
    }

    @Test("a broken record after good ones is reported as soon as they are delivered")
    func brokenRecordBehindGoodOnes() throws {
        let pair = try HandlerPair.open()
        _ = pair.client.write(noise(10))
        var bytes = pair.client.wire.take()
        bytes.writeBytes([0x17, 0x03, 0x03, 0x00, 0x20] + noise(32))
        pair.server.receive(bytes)
        // Nothing else may ever come that could make the error known.
        #expect(pair.server.listener.events == [.read(10), .readComplete, .error(.corrupted)])
        pair.settle()
        #expect(pair.client.listener.events.first == .error(.refusedByPeer))
    }

    // MARK: Half closure

    @Test("with half closure, the peer's close_notify is reported, and writing continues")
    func remoteHalfClosure() throws {
        let pair = try HandlerPair.open()
        try pair.server.channel.setOption(.allowRemoteHalfClosure, value: true).wait()
        _ = pair.client.write(noise(10))
        let half = pair.client.channel.close(mode: .output)
        pair.server.receive(pair.client.wire.take())
        #expect(half.outcome() == .succeeded)
        #expect(pair.client.wire.closes == [.output])
        #expect(pair.server.listener.events == [.read(10), .readComplete, .inputClosed])
        // The socket's end comes after that, and is no news.
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.listener.events == [.read(10), .readComplete, .inputClosed])
        let answer = pair.server.write(noise(20))
        pair.settle()
        #expect(answer.outcome() == .succeeded)
        #expect(pair.client.listener.received == noise(20))
        let closed = pair.server.channel.close()
        pair.settle()
        #expect(closed.outcome() == .succeeded)
        #expect(!pair.client.channel.isActive, "both directions are over")
    }

    @Test("without half closure, the peer's close_notify closes the channel after the flushed data")
    func noHalfClosure() throws {
        let pair = try HandlerPair.open()
        pair.server.channel.isWritable = false
        let answer = pair.server.write(noise(20))
        _ = pair.client.channel.close(mode: .output)
        pair.server.receive(pair.client.wire.take())
        #expect(pair.server.channel.isActive)
        pair.server.channel.isWritable = true
        pair.server.channel.pipeline.fireChannelWritabilityChanged()
        pair.settle()
        #expect(answer.outcome() == .succeeded)
        #expect(pair.client.listener.received == noise(20))
        #expect(!pair.server.channel.isActive && !pair.client.channel.isActive)
    }

    @Test("nothing can be written after this side has ended its stream")
    func writeAfterEnd() throws {
        let pair = try HandlerPair.open()
        let half = pair.client.channel.close(mode: .output)
        #expect(pair.client.write([1]).outcome() == .failed("\(ChannelError.outputClosed)"))
        #expect(pair.client.channel.close(mode: .output).outcome() == .failed("\(ChannelError.outputClosed)"))
        #expect(half.outcome() == .succeeded)
    }

    @Test("closing after half-closing waits only for the peer")
    func closeAfterHalf() throws {
        let pair = try HandlerPair.open()
        _ = pair.client.channel.close(mode: .output)
        let closed = pair.client.channel.close()
        #expect(closed.outcome() == nil)
        pair.settle()
        #expect(closed.outcome() == .succeeded)
    }

    @Test("closing the input alone is refused")
    func closeInput() throws {
        let pair = try HandlerPair.open()
        #expect(pair.client.channel.close(mode: .input).outcome() == .failed("\(ChannelError.operationUnsupported)"))
    }

    @Test("data that waits in the handler fails when the connection is cut")
    func cut() throws {
        let pair = try HandlerPair.open()
        let write = pair.client.channel.write(ByteBuffer(bytes: [1]))
        pair.client.wire.cut()
        #expect(write.outcome() == .failed("\(TLSError.truncated)"))
    }
}
