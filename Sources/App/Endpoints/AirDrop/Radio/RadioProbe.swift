import Foundation
import Sharing

// The answers of a helper are hostile input: bounded, of one form, and shown only as one escaped line.

/// A backend's answer about itself.
package struct RadioProbe: Hashable, Sendable {
    /// The contract that Waft knows. Another last number is the same contract.
    package static let contract = "0.7"
    /// Maximum number of obstacles that are kept, and scalars of a text.
    static let maximumMissing = 16
    static let shownScalars = 300

    /// One line each, escaped.
    package var backend: String
    package var version: String
    package var hasHardware: Bool
    /// The missing parts, in the backend's words: a line each, escaped.
    package var missing: [String]

    private struct Document: Decodable {
        struct Missing: Decodable {
            var say: String
        }

        var backend: String
        var version: String
        var contract: String
        var hardware: Bool
        var missing: [Missing]
    }

    /// - Throws: `malformed`, `otherContract`.
    init(_ bytes: [UInt8]) throws(RadioFault) {
        guard let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)) else {
            throw .malformed("probe")
        }
        let contract = document.contract
        guard contract == Self.contract || contract.hasPrefix(Self.contract + ".") else {
            throw .otherContract(Self.line(contract, limit: 40))
        }
        (backend, version) = (Self.line(document.backend, limit: 40), Self.line(document.version, limit: 40))
        hasHardware = document.hardware
        missing = document.missing.prefix(Self.maximumMissing).map { Self.line($0.say) }
    }

    /// A helper that has no `probe`.
    init(earlier helper: String) {
        (backend, version, hasHardware, missing) = (Self.line(helper, limit: 200), "", true, [])
    }

    static func line(_ text: String, limit: Int = shownScalars) -> String { ShownText.line(text, limit: limit) }
}
