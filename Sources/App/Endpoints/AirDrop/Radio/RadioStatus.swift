import Foundation

/// The state of a backend's window.
package struct RadioStatus: Hashable, Sendable {
    package var isVisible: Bool
    /// Seconds; nil for a window without an end.
    package var remaining: Int?
    /// One line, escaped; empty for none.
    package var reason: String
    /// Whether something was received on the radio: it does not only send.
    package var isProven: Bool

    private struct Document: Decodable {
        var visible: Bool
        var remaining: Int?
        var reason: String?
        var isProven: Bool?

        private enum CodingKeys: String, CodingKey {
            case visible, remaining, reason
            case isProven = "rx_proven"
        }
    }

    /// - Throws: `malformed`.
    package init(_ bytes: [UInt8]) throws(RadioFault) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)),
            document.remaining.map({ (0...RadioBackend.longest).contains($0) }) ?? true
        else { throw .malformed("status") }
        (isVisible, remaining) = (document.visible, document.remaining)
        (reason, isProven) = (RadioProbe.line(document.reason ?? ""), document.isProven ?? false)
    }
}
