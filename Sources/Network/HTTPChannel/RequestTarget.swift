/// A request's path and query.
package struct RequestTarget {
    /// As it was sent, percent-encoded.
    package let path: String
    /// The host and port of a target in absolute form (RFC 9112, 3.2.2); nil for one that is a mere path.
    package let authority: String?
    private let parameters: [String: String]

    /// Parameters of a query or a form that are read.
    private static let maximumParameters = 16

    package init(_ uri: String) {
        var rest = uri[...]
        if let scheme = ["http://", "https://"].first(where: { uri.lowercased().hasPrefix($0) }) {
            rest = rest.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            rest = rest.dropFirst(authority.count)
            self.authority = String(authority)
        } else {
            authority = nil
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts[0].isEmpty && authority != nil ? "/" : String(parts[0])
        parameters = parts.count > 1 ? Self.parameters(parts[1]) : [:]
    }

    /// The fields of a form in a body (`application/x-www-form-urlencoded`).
    package init(form: String) { (path, authority, parameters) = ("", nil, Self.parameters(form[...])) }

    package subscript(name: String) -> String? { parameters[name] }

    /// The decoded names between the slashes of the path; nil if one of them cannot be decoded.
    package var names: [String]? {
        var names: [String] = []
        for part in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let name = Self.decoded(part, plusIsSpace: false) else { return nil }
            names.append(name)
        }
        return names
    }

    private static func parameters(_ text: Substring) -> [String: String] {
        var found: [String: String] = [:]
        for pair in text.split(separator: "&").prefix(maximumParameters) {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(sides[0], plusIsSpace: true),
                let value = decoded(sides.count > 1 ? sides[1] : "", plusIsSpace: true), found[name] == nil
            else { continue }
            found[name] = value
        }
        return found
    }

    /// - Returns: nil for an incomplete escape, and for bytes that are not UTF-8.
    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
