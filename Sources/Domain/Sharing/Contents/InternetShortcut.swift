/// A URL in its form for sending and in the Inbox: a `.url` file that every desktop opens.
package struct InternetShortcut: Sendable {
    /// Most bytes in a URL.
    package static let maximumBytes = 8 << 10
    /// Most bytes in the file.
    static let maximumFileBytes = maximumBytes + 64

    package let url: String
    private let colon: String.Index

    /// Why a text is no URL that can be sent: words that follow "it".
    package struct FormatError: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String

        fileprivate init(_ description: String) {
            self.description = description
        }
    }

    /// - Parameter url: absolute: a scheme (RFC 3986, section 3.1), a colon and something after it; no white space and no
    ///   control characters. More is not looked at: it is the receiver's side that opens it.
    /// - Throws: `FormatError` where `url` is none; without the URL, which may be long and may hold a secret.
    package init(_ url: String) throws(FormatError) {
        if url.utf8.count > Self.maximumBytes { throw FormatError("it is longer than \(Self.maximumBytes) bytes") }
        for scalar in url.unicodeScalars {
            if scalar.properties.isWhitespace { throw FormatError("it has white space in it") }
            if scalar != "/", (try? SafeName("x" + String(scalar))) == nil {
                throw FormatError("it has control or direction-changing characters in it")
            }
        }
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(url[..<colon]) else {
            throw FormatError("it has no scheme such as https:")
        }
        if url.utf8.index(after: colon) == url.endIndex { throw FormatError("nothing follows its scheme") }
        self.url = url
        self.colon = colon
    }

    /// The whole file. The URL cannot end its line: it was checked.
    package var contents: [UInt8] {
        // The line ends that programs of the form's own system expect.
        Array("[InternetShortcut]\r\nURL=\(url)\r\n".utf8)
    }

    /// - Returns: the value of `URL` in `[InternetShortcut]`, without a check; nil if there is none.
    package static func url(in contents: [UInt8]) -> String? {
        var isInside = false
        for line in contents.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            guard let line = String(validating: line, as: UTF8.self) else { return nil }
            if line.hasPrefix("[") {
                isInside = line.lowercased().hasPrefix("[internetshortcut]")
            } else if isInside, line.prefix(4).lowercased() == "url=" {
                return String(line.dropFirst(4))
            }
        }
        return nil
    }

    // MARK: Its name

    /// `example.com.url`: of the host alone, for a path may hold secrets, and so may what stands before an `@`.
    package var name: SafeName {
        let scheme = String(url[..<colon])
        let rest = url[url.utf8.index(after: colon)...]
        for stem in [Self.host(in: rest), scheme, "link"] {
            // Characters that some systems do not take in names: the colons and brackets of an IPv6 address.
            let fit = String(stem.map { "\\:*?\"<>|[]%".contains($0) ? "-" : $0 }).trimming(["-", "."])
            if !fit.isEmpty, let name = try? SafeName(fit + ".url") { return name }
        }
        preconditionFailure("a name of plain letters is safe")
    }

    /// - Parameter rest: the URL after its scheme and colon.
    private static func host(in rest: Substring) -> String {
        // By scalars: an `@` ends the password before it even if a combining mark follows.
        guard rest.utf8.starts(with: "//".utf8) else { return "" }
        var authority = rest.unicodeScalars.dropFirst(2).prefix { !"/?#".unicodeScalars.contains($0) }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        if authority.first == "[", let end = authority.firstIndex(of: "]") { return String(authority[...end]) }
        return String(authority.prefix { $0 != ":" }).lowercased()
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
}

extension String {
    fileprivate func trimming(_ unwanted: Set<Character>) -> String {
        let start = drop { unwanted.contains($0) }
        guard let last = start.lastIndex(where: { !unwanted.contains($0) }) else { return "" }
        return String(start[...last])
    }
}
