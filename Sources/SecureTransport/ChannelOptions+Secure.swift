internal import NIOCore
internal import NIOPosix

// How the sockets under TLS are set up, the same on both sides.
//
// Reading: the buffer grows with what comes, so an idle connection holds 2 KiB and a busy one reads 256 KiB with one
// call, or less where it is one of a listener's many (`FullReaders`). Writing: a channel takes up to 1 MiB of ciphertext
// before it says that it is full, enough for the kernel to stay busy while this process does something else.

private let watermark = ChannelOptions.Types.WriteBufferWaterMark(
    low: TransportLimits.writeWatermarks.low,
    high: TransportLimits.writeWatermarks.high
)

private let receiveAllocator = AdaptiveRecvByteBufferAllocator(
    minimum: 2048,
    initial: 2048,
    maximum: TransportLimits.bufferBytes
)

extension ServerBootstrap {
    func secureChildOptions() -> ServerBootstrap {
        childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: receiveAllocator)
            .childChannelOption(.writeBufferWaterMark, value: watermark)
    }
}

extension ClientBootstrap {
    func secureOptions() -> ClientBootstrap {
        channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.recvAllocator, value: receiveAllocator)
            .channelOption(.writeBufferWaterMark, value: watermark)
    }
}
