package import NIOHTTP1

/// Why an HTTP exchange came to nothing.
package struct HTTPFault: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: Hashable, Sendable {
        case closed
        case silence
        case tooLarge
        case malformed
    }

    private let code: Code
    private let detail: String

    /// The other side closed the connection before the exchange was complete.
    package static let closed = HTTPFault(code: .closed, detail: "the other side closed the connection")
    /// Nothing came from the other side, or it took nothing, for as long as was allowed.
    package static let silence = HTTPFault(code: .silence, detail: "the other side fell silent")
    /// A message is larger than was allowed.
    package static let tooLarge = HTTPFault(code: .tooLarge, detail: "the message is too large")
    /// What came is no HTTP, or no message that was allowed at this point.
    package static func malformed(_ detail: String) -> HTTPFault { HTTPFault(code: .malformed, detail: detail) }

    package var description: String { detail }

    /// The status a server answers with, nil where there is nobody to answer to.
    package var status: HTTPResponseStatus? {
        switch code {
        case .closed, .silence: nil
        case .tooLarge: .payloadTooLarge
        case .malformed: .badRequest
        }
    }
}
