import Foundation
import Sharing

/// A URL with a scheme, parsed by the rules of RFC 3986.
///
/// Characters outside ASCII are kept as they are (RFC 3987); internationalized host names are neither encoded nor
/// decoded. Nothing is resolved, opened or looked up.
package struct URLParts: Hashable, Sendable {
    /// The original text: 1 to `CatalogLimits.urlBytes` bytes without white space, control or direction-changing
    /// characters.
    package let text: String
    /// The same in ASCII: other characters percent-encoded as UTF-8, in the host too.
    package let uri: String
    package let scheme: URLScheme
    /// The text before the `@`, decoded; nil if there is no `@`.
    package let user: String?
    /// The text after the first colon in that part, decoded.
    package let password: String?
    /// Decoded, in its original case, IPv6 addresses without brackets; nil if there is no `//`, empty if nothing
    /// follows the `//`.
    package let host: String?
    package let port: UInt16?
    /// Still percent-encoded, as in `uri`: decoded, `%2F` would look like a border between segments.
    package let path: String
    /// Still percent-encoded, without the `?`.
    package let query: String?
    /// Still percent-encoded, without the `#`.
    package let fragment: String?

    /// - Throws: `URLPartsError` for any other text.
    package init(_ text: String) throws(URLPartsError) {
        guard text.utf8.prefix(CatalogLimits.urlBytes + 1).count <= CatalogLimits.urlBytes else { throw .tooLong }
        guard text.unicodeScalars.allSatisfy(Self.isAllowed) else { throw .unprintable }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), let scheme = URLScheme(String(text[..<colon]))
        else {
            throw .noScheme
        }
        let uri = Self.inASCII(text)
        // Foundation's parser follows RFC 3986 if it does not encode invalid characters, with two exceptions: it does
        // not check text in brackets, and it ignores ports that are too high.
        guard let components = URLComponents(string: uri, encodingInvalidCharacters: false) else { throw .malformed }
        self.text = text
        self.uri = uri
        self.scheme = scheme
        user = try Self.decoded(components.percentEncodedUser)
        password = try Self.decoded(components.percentEncodedPassword)
        host = try Self.host(components.encodedHost)
        port = try Self.port(in: uri)
        path = components.percentEncodedPath
        query = components.percentEncodedQuery
        fragment = components.percentEncodedFragment
    }

    /// The segments of the path, decoded: `/a%2Fb/c` has `a/b` and `c`. Nil if a segment is not text (bytes that are
    /// not UTF-8, control characters).
    package var pathSegments: [String]? {
        let path = path.hasPrefix("/") ? path.dropFirst() : path[...]
        guard !path.isEmpty else { return [] }
        return Self.allDecoded(path.split(separator: "/", omittingEmptySubsequences: false))
    }

    /// The query in its usual form: names and values, decoded. `+` is not decoded. The value is nil if there is no `=`.
    /// Nil if there is no query, or a part of it is not text.
    package var queryItems: [QueryItem]? {
        guard let query else { return nil }
        var items: [QueryItem] = []
        for part in query.split(separator: "&") {
            let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let decoded = Self.allDecoded(sides), let name = decoded.first else { return nil }
            items.append(QueryItem(name: name, value: decoded.count > 1 ? decoded[1] : nil))
        }
        return items
    }

    /// One part of a query.
    package struct QueryItem: Hashable, Sendable, Encodable {
        package var name: String
        package var value: String?

        package init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    // MARK: Characters

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            ? scalar.value > 0x20 && scalar.value < 0x7F
            : !scalar.properties.isWhitespace && (try? SafeName("x" + String(scalar))) != nil
    }

    private static func inASCII(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        var uri: [UInt8] = []
        for byte in text.utf8 {
            if byte < 0x80 { uri.append(byte) } else { uri += Array("%".utf8) + hexadecimal(byte) }
        }
        return String(decoding: uri, as: UTF8.self)
    }

    private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
    }

    /// - Throws: `URLPartsError.undecodable`: the user and host of a URL must have only one reading.
    private static func decoded(_ text: String?) throws(URLPartsError) -> String? {
        guard let text else { return nil }
        guard let decoded = decoded(text[...]) else { throw .undecodable }
        return decoded
    }

    private static func allDecoded(_ parts: [Substring]) -> [String]? {
        let decoded = parts.compactMap { Self.decoded($0) }
        return decoded.count == parts.count ? decoded : nil
    }

    /// Nil if the result is not UTF-8, or contains control or direction-changing characters.
    private static func decoded(_ text: Substring) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        guard let decoded = String(text).removingPercentEncoding else { return nil }
        let isFit = decoded.unicodeScalars.allSatisfy { $0 == "/" || (try? SafeName("x" + String($0))) != nil }
        return isFit ? decoded : nil
    }
}

extension URLParts {
    /// The host. If it is in brackets, it must be an address.
    private static func host(_ encoded: String?) throws(URLPartsError) -> String? {
        guard let encoded, encoded.hasPrefix("[") else { return try decoded(encoded) }
        guard encoded.hasSuffix("]") else { throw .address }
        let literal = String(encoded.dropFirst().dropLast())
        if literal.first == "v" || literal.first == "V" {
            guard isFutureAddress(literal) else { throw .address }
            return literal
        }
        // RFC 6874: a zone follows `%25`.
        let parts = literal.split(separator: "%25", maxSplits: 1, omittingEmptySubsequences: false)
        var bytes = in6_addr()
        guard let address = parts.first, inet_pton(AF_INET6, String(address), &bytes) == 1 else { throw .address }
        guard parts.count == 2 else { return literal }
        guard let zone = decoded(parts[1]), !zone.isEmpty else { throw .address }
        return address + "%" + zone
    }

    /// - Parameter uri: well formed, except that the port's value is not checked.
    private static func port(in uri: String) throws(URLPartsError) -> UInt16? {
        let rest = uri.drop { $0 != ":" }.dropFirst()
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        let hostAndPort = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let afterHost = hostAndPort.lastIndex(of: "]").map { hostAndPort[$0...] } ?? hostAndPort
        guard let colon = afterHost.firstIndex(of: ":") else { return nil }
        let digits = afterHost[afterHost.index(after: colon)...]
        guard !digits.isEmpty else { return nil }
        guard digits.allSatisfy({ ("0"..."9").contains($0) }), let port = UInt16(digits) else { throw .port }
        return port
    }

    /// `IPvFuture`: `v`, hexadecimal digits, a dot, and at least one character more.
    private static func isFutureAddress(_ literal: String) -> Bool {
        let sides = literal.dropFirst().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        return sides.count == 2 && !sides[0].isEmpty && sides[0].allSatisfy(\.isHexDigit) && !sides[1].isEmpty
            && !sides[1].contains("%")
    }
}

extension URLParts: Encodable {
    private enum CodingKeys: String, CodingKey {
        case url, scheme, user, password, host, port, path, pathSegments, query, queryItems, fragment
    }

    /// The form for handlers: the parts that the URL has, and decoded parts for convenience.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(text, forKey: .url)
        try container.encode(scheme.text, forKey: .scheme)
        try container.encodeIfPresent(user, forKey: .user)
        try container.encodeIfPresent(password, forKey: .password)
        try container.encodeIfPresent(host, forKey: .host)
        try container.encodeIfPresent(port, forKey: .port)
        try container.encode(path, forKey: .path)
        try container.encodeIfPresent(pathSegments, forKey: .pathSegments)
        try container.encodeIfPresent(query, forKey: .query)
        try container.encodeIfPresent(queryItems, forKey: .queryItems)
        try container.encodeIfPresent(fragment, forKey: .fragment)
    }
}

/// Why a text is not accepted as a URL.
package struct URLPartsError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: Hashable, Sendable {
        case tooLong, unprintable, noScheme, malformed, port, address, undecodable
    }

    private let code: Code
    private init(_ code: Code) { self.code = code }

    package static let tooLong = URLPartsError(.tooLong)
    package static let unprintable = URLPartsError(.unprintable)
    package static let noScheme = URLPartsError(.noScheme)
    package static let malformed = URLPartsError(.malformed)
    package static let port = URLPartsError(.port)
    package static let address = URLPartsError(.address)
    package static let undecodable = URLPartsError(.undecodable)

    package var description: String {
        switch code {
        case .tooLong: "the URL is longer than \(CatalogLimits.urlBytes >> 10) KiB"
        case .unprintable: "the URL has white space, control or direction-changing characters in it"
        case .noScheme: "the URL has no scheme such as https:"
        case .malformed: "the URL is not well formed: a character in it must be percent-encoded, or a part is missing"
        case .port: "the URL's port is larger than 65535"
        case .address: "the URL's host is not an address, though it is in brackets"
        case .undecodable: "the URL's user or host is not text once it is decoded"
        }
    }
}
