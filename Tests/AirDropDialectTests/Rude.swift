import Glibc
import HTTPChannel
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// A receiver that answers everything with one status after many interim answers, or closes without an answer.
enum Rude {
    /// - Parameter status: 0 for no answer, -1 for a reset of the connection, 100 for interim answers without end.
    static func run(_ status: Int, _ body: @Sendable (HTTPClient) async throws -> Void) async throws {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let port = try #require(listener.channel.localAddress?.port)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.executeThenClose { connections in
                    for try await connection in connections {
                        try await connection.executeThenClose { inbound, outbound in
                            var iterator = inbound.makeAsyncIterator()
                            _ = try await iterator.next()
                            if status < 0 {
                                let socket = try #require(connection.channel as? any SocketOptionProvider)
                                try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
                            }
                            guard status > 0 else { return }
                            let interim = String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 5)
                            while status == 100 {
                                try await outbound.write(ByteBuffer(string: interim))
                                try await Task.sleep(for: .milliseconds(5))
                            }
                            let final = "HTTP/1.1 \(status) X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                            try await outbound.write(ByteBuffer(string: interim + final))
                            while try await iterator.next() != nil {}
                        }
                    }
                }
            }
            defer { group.cancelAll() }
            let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(host: "127.0.0.1", port: port) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try HTTPClient.configure(channel, answerLimit: 1 << 20, watchInterval: .milliseconds(5))
                    }
                }
            try await HTTPClient.run(connection) { http in try await body(http) }
        }
    }
}
