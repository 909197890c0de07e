package import Sharing
package import UniformTypes

/// A URL, sent as a `.url` file (an Internet Shortcut: a form that every desktop opens).
package struct URLSource: ItemSource {
    /// Most bytes in a URL.
    package static let maximumBytes = 8 << 10

    package let offered: OfferedItem
    package let origin: String

    private let contents: [UInt8]

    /// - Parameters:
    ///   - url: absolute: a scheme (RFC 3986, section 3.1), a colon and something after it; no white space and no
    ///     control characters. More is not looked at: it is the receiver's side that opens it.
    ///   - name: nil for one made of the URL's host, or its scheme where it has no host.
    ///   - type: nil for `public.url`.
    /// - Throws: `SourceFault.unreadable` where `url` is none.
    package init(
        _ url: String,
        name: SafeName? = nil,
        type: UniformType? = nil,
        origin: String = "url"
    ) throws(SourceFault) {
        let colon = try Self.check(url)
        // The line ends that programs of the form's own system expect. The URL cannot end the line: it was checked.
        self.contents = Array("[InternetShortcut]\r\nURL=\(url)\r\n".utf8)
        self.origin = origin
        self.offered = OfferedItem(
            kind: .url,
            name: name ?? Self.name(for: url, colon: colon),
            type: type ?? .url,
            size: UInt64(contents.count)
        )
    }

    package func open() -> any ItemReading { BytesReading(contents) }

    /// - Returns: where the colon after the scheme is.
    private static func check(_ url: String) throws(SourceFault) -> String.Index {
        if url.utf8.count > maximumBytes { throw .notURL("it is longer than \(maximumBytes) bytes") }
        for scalar in url.unicodeScalars {
            if scalar.properties.isWhitespace { throw .notURL("it has white space in it") }
            if scalar != "/", (try? SafeName("x" + String(scalar))) == nil {
                throw .notURL("it has control or direction-changing characters in it")
            }
        }
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), isScheme(url[..<colon]) else {
            throw .notURL("it has no scheme such as https:")
        }
        if url.utf8.index(after: colon) == url.endIndex { throw .notURL("there is nothing after its scheme") }
        return colon
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { byte in
            isLetter(byte) || isDigit(byte) || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(byte)
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// `example.com.url`: of the host alone, for a path may hold secrets, and so may what stands before an `@`.
    private static func name(for url: String, colon: String.Index) -> SafeName {
        let scheme = String(url[..<colon])
        let rest = url[url.utf8.index(after: colon)...]
        for stem in [host(in: rest), scheme] {
            // Characters that some systems do not take in names: the colons and brackets of an IPv6 address.
            let fit = String(stem.map { "\\:*?\"<>|[]%".contains($0) ? "-" : $0 }).trimming(["-", "."])
            if !fit.isEmpty, let name = try? SafeName(fit + ".url") { return name }
        }
        return SafeName(literal: "link.url")
    }

    /// - Parameter rest: the URL after its scheme and colon.
    private static func host(in rest: Substring) -> String {
        guard rest.hasPrefix("//") else { return "" }
        var authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") { return String(authority[...end]) }
        return String(authority.prefix { $0 != ":" }).lowercased()
    }
}

extension String {
    fileprivate func trimming(_ unwanted: Set<Character>) -> String {
        let start = drop { unwanted.contains($0) }
        guard let last = start.lastIndex(where: { !unwanted.contains($0) }) else { return "" }
        return String(start[...last])
    }
}

extension SourceFault {
    /// Without the URL: it may be long, and it may hold a secret.
    fileprivate static func notURL(_ why: String) -> SourceFault {
        SourceFault(.unreadable, "the URL cannot be sent: \(why)")
    }
}
