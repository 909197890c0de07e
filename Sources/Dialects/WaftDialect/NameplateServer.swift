package import HTTPChannel
import NIOHTTP1
import Sharing

/// Answers the questions for a nameplate on one connection (Protocol, section 2.2), and nothing else.
package enum NameplateServer {
    /// - Parameter isOpen: whether this side shows a code of this nameplate; nil if it has been asked too often.
    package static func serve(_ connection: HTTPServer.Connection, isOpen: @Sendable (Int) -> Bool?) async {
        await HTTPServer.serve(connection, idle: Limits.idleRefused, silence: Limits.idleRefused) { exchange in
            guard exchange.head.method == .GET,
                case .nameplate(let number)? = WaftDialect.Resource(path: exchange.head.uri)
            else {
                let fault = TransferError(.protocolViolation, "no such resource")
                return try await exchange.respondAndClose(.notFound, body: try WaftDialect.encode(fault))
            }
            guard let isOpen = isOpen(number) else {
                let fault = TransferError(.stopping, "too many questions for codes; try again in a minute")
                return try await exchange.respondAndClose(.serviceUnavailable, body: try WaftDialect.encode(fault))
            }
            try await exchange.respond(.ok, body: try WaftDialect.encode(NameplateMessage(open: isOpen)))
        }
    }
}

/// Whether a machine shows a code of a nameplate.
struct NameplateMessage: MessageReading, Encodable {
    var v = 1
    var open: Bool

    init(open: Bool) { self.open = open }
}
