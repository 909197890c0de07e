import Foundation

/// A request's path and query.
struct RequestTarget {
    let path: String
    private let parameters: [String: String]

    init(_ uri: String) {
        let parts = uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts[0])
        var found: [String: String] = [:]
        for pair in parts.count > 1 ? parts[1].split(separator: "&").prefix(16) : [] {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0]), let value = Self.decoded(sides.count > 1 ? sides[1] : "") else {
                continue
            }
            if found[name] == nil { found[name] = value }
        }
        parameters = found
    }

    subscript(name: String) -> String? { parameters[name] }

    /// As forms are encoded: `+` is a space.
    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }
}
