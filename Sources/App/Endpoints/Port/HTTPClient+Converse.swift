import HTTPChannel
import SecureTransport

extension HTTPClient {
    /// A conversation that the user may break off: then a peer that takes nothing is not waited for.
    /// - Throws: what `body` throws.
    static func converse<Result: Sendable>(
        _ connection: Connection, _ body: (HTTPClient) async throws -> sending Result
    ) async throws -> Result {
        try await connection.channelBelow.hurriedWhenCancelled { try await run(connection, body) }
    }
}
