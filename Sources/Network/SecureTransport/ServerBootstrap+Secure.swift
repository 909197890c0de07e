internal import Glibc
package import NIOCore
internal import NIOPosix

// Options of the sockets under TLS, the same on both sides.
//
// Reading: the buffer grows with the incoming data. An idle connection holds 2 KiB, a busy one `channelReadBytes`, and
// one that receives contents several times `bulkReadBytes`, unless a `SecureStream` reads them. Writing: a channel takes up to 1 MiB of
// ciphertext before it reports that it is full, so that the kernel stays busy while this process does something else. A socket whose peer
// has paused reading takes more as soon as less than half of `unsentBytes` waits in it. The kernel's own rule is a
// third of a buffer of megabytes; a sender that wakes up only then has let a core idle meanwhile.

private let watermark = ChannelOptions.Types.WriteBufferWaterMark(
    low: TransportLimits.writeWatermarks.low,
    high: TransportLimits.writeWatermarks.high
)

private let receiveAllocator = AdaptiveRecvByteBufferAllocator(
    minimum: 2048,
    initial: 2048,
    maximum: TransportLimits.channelReadBytes
)

private let bulkAllocator = AdaptiveRecvByteBufferAllocator(
    minimum: 2048,
    initial: TransportLimits.bulkReadBytes / 2,
    maximum: TransportLimits.bulkReadBytes
)

/// Reads before a channel passes them on. It keeps as many buffers until it is closed: a connection of which nothing is known has one.
private let bulkReads: UInt = 4

extension Channel {
    /// Reads in larger pieces from now on, and several of them at once: for contents that were accepted.
    package func readInBulk() {
        // They fail if the channel is closed.
        _ = setOption(.recvAllocator, value: bulkAllocator)
        _ = setOption(.maxMessagesPerRead, value: bulkReads)
    }
}

extension NIOBSDSocket.Option {
    fileprivate static let notSentLowWatermark = Self(rawValue: TCP_NOTSENT_LOWAT)
}

extension ServerBootstrap {
    func secureChildOptions() -> ServerBootstrap {
        childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: receiveAllocator)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.tcpOption(.notSentLowWatermark), value: TransportLimits.unsentBytes)
            .childChannelOption(.writeBufferWaterMark, value: watermark)
    }
}

extension ClientBootstrap {
    func secureOptions() -> ClientBootstrap {
        channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.tcpOption(.notSentLowWatermark), value: TransportLimits.unsentBytes)
            .channelOption(.recvAllocator, value: receiveAllocator)
            .channelOption(.writeBufferWaterMark, value: watermark)
    }
}
