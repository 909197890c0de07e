package import HTTPChannel
import NIOCore
import NIOHTTP1
import Sharing

/// Tells devices about this one, and takes their registrations; or takes the word of a receiver that it has ended a
/// sending. Nothing can be sent to it.
package enum LocalSendRegistry {
    /// Serves one connection until it is closed.
    ///
    /// - Parameters:
    ///   - device: how this device describes itself; nil if it hides.
    ///   - met: called when another device has registered.
    package static func serve(
        _ connection: HTTPServer.Connection, device: @Sendable () async -> LocalSendDevice?,
        met: (LocalSendDevice) async -> Void
    ) async {
        await HTTPServer.serve(connection, idle: Limits.idleRefused, silence: Limits.idleRefused) { exchange in
            guard let own = await device() else { return try await exchange.refuse(.forbidden, "Rejected") }
            let target = RequestTarget(exchange.head.uri)
            guard try await answer(exchange, target, own, met: met) else {
                return try await exchange.refuse(.forbidden, "Rejected")
            }
        }
    }

    /// Serves one connection to the port of a sending until it is closed.
    /// - Parameter cancelled: called with a session that has ended on the other side; false for a session that is unknown.
    package static func serve(_ connection: HTTPServer.Connection, cancelled: @Sendable (String) -> Bool) async {
        await HTTPServer.serve(connection, idle: Limits.idleRefused, silence: Limits.idleRefused) { exchange in
            let target = RequestTarget(exchange.head.uri)
            guard exchange.head.method == .POST, target.path == LocalSendDialect.prefix + "cancel",
                let session = target["sessionId"], cancelled(session)
            else { return try await exchange.refuse(.forbidden, "Rejected") }
            try await exchange.respond(.ok, contentType: nil, body: ByteBuffer())
        }
    }

    /// Answers a question about this device.
    /// - Returns: false for any other request.
    static func answer(
        _ exchange: HTTPExchange, _ target: RequestTarget, _ own: LocalSendDevice,
        met: (LocalSendDevice) async -> Void
    ) async throws -> Bool {
        switch (exchange.head.method, target.path) {
        case (.GET, LocalSendDialect.prefix + "info"), (.GET, LocalSendDialect.earlyInfo):
            try await inform(exchange, own, asker: target["fingerprint"])
        case (.POST, LocalSendDialect.prefix + "register"):
            try await exchange.inviteBody()
            let body = try await exchange.body(upTo: LocalSendLimits.deviceBytes)
            guard let device = LocalSendDevice(message: body.readableBytesView) else {
                try await exchange.refuse(.badRequest, "Invalid JSON body")
                return true
            }
            try await inform(exchange, own, asker: device.fingerprint)
            if device.fingerprint.lowercased() != own.fingerprint.lowercased() { await met(device) }
        default: return false
        }
        return true
    }

    private static func inform(_ exchange: HTTPExchange, _ own: LocalSendDevice, asker: String?) async throws {
        guard asker?.lowercased() != own.fingerprint.lowercased() else {
            return try await exchange.refuse(.preconditionFailed, "Self-discovered")
        }
        try await exchange.respond(.ok, body: ByteBuffer(bytes: own.message()))
    }
}
