internal import Glibc
internal import NIOCore
internal import NIOPosix

// How the sockets under TLS are set up, the same on both sides.
//
// Reading: the buffer grows with what comes, so an idle connection holds 2 KiB and a busy one reads 512 KiB with one
// call, or less where it is one of a listener's many (`FullReaders`). Writing: a channel takes up to 1 MiB of ciphertext
// before it says that it is full, enough for the kernel to stay busy while this process does something else. A socket whose
// peer has stopped reading for a while takes more as soon as less than half of `unsentBytes` waits in it; the kernel's own rule
// is a third of a buffer of megabytes, and a sender that wakes up only then has let a core idle meanwhile.

private let watermark = ChannelOptions.Types.WriteBufferWaterMark(
    low: TransportLimits.writeWatermarks.low,
    high: TransportLimits.writeWatermarks.high
)

private let receiveAllocator = AdaptiveRecvByteBufferAllocator(
    minimum: 2048,
    initial: 2048,
    maximum: TransportLimits.bufferBytes
)

extension NIOBSDSocket.Option {
    fileprivate static let notSentLowWatermark = Self(rawValue: TCP_NOTSENT_LOWAT)
}

extension ServerBootstrap {
    func secureChildOptions() -> ServerBootstrap {
        childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: receiveAllocator)
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
