import Glibc
import NIOCore
import NIOEmbedded
import NIOPosix
import Sharing
import Testing

@testable import SecureTransport

/// Whole connections, on sockets and on a channel for asynchronous tests.
@Suite struct StreamingTests {
    @Test("a receiver that does not read stops the sender, and gets everything when it does")
    func backpressure() async throws {
        let isFull = Signal<Void>()
        let received = Signal<[Int]>()
        let size = 64 * 1024 * 1024
        let chunk = noise(256 * 1024)
        try await withListener(onConnection: { connection in
            try? await connection.output.executeThenClose { inbound, _ in
                await isFull.wait()
                var count = 0
                var wrong = 0
                for try await buffer in inbound {
                    if buffer.readableBytesView.first != chunk[count % chunk.count] { wrong += 1 }
                    count += buffer.readableBytes
                }
                await received.fire([count, wrong])
            }
        }) { listener in
            let connection = try await dialer().dial([DialAddress(host: "127.0.0.1", port: listener.port)]) {
                try $0.pipeline.syncOperations.addHandler(FullnessWatch { Task { await isFull.fire(()) } })
                return try bytesPipeline($0, $1)
            }
            try await connection.output.executeThenClose { _, outbound in
                for _ in 0..<size / chunk.count { try await outbound.write(ByteBuffer(bytes: chunk)) }
            }
            #expect(await received.wait() == [size, 0])
        }
    }

    @Test("the socket of either side takes more as soon as little waits in it, however large it has grown")
    func unsentBytes() async throws {
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_NOTSENT_LOWAT))
        let accepted = Signal<Int?>()
        try await withListener(onConnection: { connection in
            await accepted.fire(try? await connection.output.channel.getOption(option).get())
            await echo(connection)
        }) { listener in
            let connection = try await dialer().dial(port: listener.port)
            #expect(try await connection.output.channel.getOption(option).get() == 512 * 1024)
            _ = try await connection.exchange([1])
        }
        #expect(await accepted.wait() == 512 * 1024)
    }

    @Test("a client can end its stream and still read the answer")
    func halfClosure() async throws {
        let listener = try await SecureListener.bind(
            .init(host: "127.0.0.1", identity: Identities.bob),
            group: sharedGroup,
            logger: silentLogger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run(
                    configurePipeline: { channel, peerID in
                        try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
                        return try bytesPipeline(channel, peerID)
                    },
                    onConnection: { connection in
                        try? await connection.output.executeThenClose { inbound, outbound in
                            var count = 0
                            for try await buffer in inbound { count += buffer.readableBytes }
                            try await outbound.write(ByteBuffer(string: "\(count)"))
                        }
                    }
                )
            }
            let address = DialAddress(host: "127.0.0.1", port: listener.port)
            let connection = try await dialer().dial([address]) { channel, _ in
                try Bytes(
                    wrappingChannelSynchronously: channel,
                    configuration: .init(isOutboundHalfClosureEnabled: true)
                )
            }
            let answer = try await connection.output.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(bytes: noise(1_000_000)))
                outbound.finish()
                var answer = ""
                for try await buffer in inbound { answer += String(buffer: buffer) }
                return answer
            }
            #expect(answer == "1000000")
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test("a cut connection is truncated for its reader")
    func truncated() async throws {
        let ready = Signal<Void>()
        try await withListener(onConnection: { connection in
            try? await connection.output.executeThenClose { _, outbound in
                try await outbound.write(ByteBuffer(bytes: noise(10)))
                await ready.wait()
                // Below TLS, as a crash would.
                try await connection.channel.eventLoop.submit {
                    try connection.channel.pipeline.syncOperations.context(handlerType: TLSHandler.self)
                        .close(mode: .all, promise: nil)
                }.get()
            }
        }) { listener in
            let connection = try await dialer().dial(port: listener.port)
            await #expect {
                try await connection.output.executeThenClose { inbound, _ in
                    for try await buffer in inbound {
                        #expect(buffer.readableBytes == 10)
                        await ready.fire(())
                    }
                }
            } throws: { ($0 as? TLSError)?.code == .truncated }
        }
    }

    @Test("many connections at the same time do not mix")
    func many() async throws {
        try await withListener { listener in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in 0..<24 {
                    group.addTask {
                        let connection = try await dialer().dial(port: listener.port)
                        let data = noise(300_000 + seed, seed: UInt64(seed))
                        #expect(try await connection.exchange(data) == data)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("the handshake's bytes come out of an asynchronous channel, and noise going in fails it")
    func asyncTestingChannel() async throws {
        let context = try TLSContext.make(role: .client, identity: Identities.alice, profile: .waft)
        let channel = try await NIOAsyncTestingChannel { channel in
            try channel.pipeline.syncOperations.addHandler(TLSHandler(context: context))
        }
        try await channel.connect(to: SocketAddress(unixDomainSocketPath: "/")).get()
        let hello = try await channel.waitForOutboundWrite(as: ByteBuffer.self)
        #expect(hello.getInteger(at: 0, as: UInt8.self) == 0x16)
        await #expect { try await channel.writeInbound(ByteBuffer(string: "HTTP/1.1 200 OK")) } throws: {
            ($0 as? TLSError)?.code == .notTLS
        }
        try await channel.closeFuture.get()
    }
}

/// Says when its channel takes no more.
private final class FullnessWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let isFull: () -> Void

    init(isFull: @escaping () -> Void) { self.isFull = isFull }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !context.channel.isWritable { isFull() }
        context.fireChannelWritabilityChanged()
    }
}
