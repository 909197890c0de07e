package import NIOHTTP1

/// Why an HTTP exchange failed.
package struct HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: Hashable, Sendable {
        case closed
        case silence
        case tooLarge
        case malformed
    }

    private let code: Code
    private let detail: String

    /// The other side closed the connection before the exchange was complete.
    package static let closed = HTTPError(code: .closed, detail: "the other side closed the connection")
    /// The other side sent nothing, or took nothing, for the allowed time.
    package static let silence = HTTPError(code: .silence, detail: "the other side fell silent")
    /// A message is larger than allowed.
    package static let tooLarge = HTTPError(code: .tooLarge, detail: "the message is too large")
    /// The bytes are not HTTP, or not a message that is allowed at this point.
    package static func malformed(_ detail: String) -> HTTPError { HTTPError(code: .malformed, detail: detail) }

    package var description: String { detail }

    /// The status that a server answers with; nil if no client waits for an answer.
    package var status: HTTPResponseStatus? {
        switch code {
        case .closed, .silence: nil
        case .tooLarge: .payloadTooLarge
        case .malformed: .badRequest
        }
    }
}
