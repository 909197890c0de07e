package import HTTPChannel
package import Logging
import NIOPosix
import SecureTransport
import Sharing

/// Pages at a free port of loopback, for browsers on this machine. Programs of all its users reach it.
package struct LoopbackPages: Sendable {
    /// Stands for the pages in the counts of connections. Nothing is transferred by it.
    private static let pages = Dialect(
        name: "pages", title: "the pages", proof: .never, givesReceipts: false, resumes: false)
    /// All programs of this machine have one address.
    private static let connections = 128

    private let listener: SecureListener

    /// - Throws: `ListenerError`.
    package static func bind(_ logger: Logger) async throws -> LoopbackPages {
        var configuration = SecureListener.Configuration(host: "127.0.0.1", plainFor: pages)
        configuration.limits = .forEntering(connectionsPerAddress: connections)
        return LoopbackPages(
            listener: try await SecureListener.bind(configuration, group: .singleton, logger: logger))
    }

    package var port: Int { listener.port }

    /// The values of `Host` that mean these pages.
    package var authorities: Set<String> { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// A connection of a browser, or of another program.
    package struct Visit: Sendable {
        package let connection: HTTPServer.Connection
        private let place: ConnectionSlot?

        fileprivate init(_ connection: SecureConnection<HTTPServer.Connection>) {
            (self.connection, place) = (connection.output, connection.place)
        }

        /// Tells whether the connection may be closed in favour of another one.
        package func setIdle(_ isIdle: Bool) { place?.isIdle(isIdle) }

        /// The visitor has shown that it belongs here.
        package func enter() { place?.enter() }
    }

    /// Serves until the task is cancelled.
    package func serve(_ visit: @escaping @Sendable (Visit) async -> Void) async {
        try? await listener.run { channel, _ in
            try HTTPServer.configure(channel)
        } onConnection: { connection in
            await visit(Visit(connection))
        }
    }
}
