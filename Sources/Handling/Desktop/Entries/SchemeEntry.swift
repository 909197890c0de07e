/// The desktop entry for URLs of handlers' schemes: the desktop gives them to `waft open`
/// (Desktop Entry Specification 1.5).
package struct SchemeEntry: Hashable, Sendable {
    package static let fileName = "org.waft.Open.desktop"

    /// Schemes that mean the same everywhere, or that belong to desktops and browsers: never claimed.
    private static let unclaimed: Set<String> = [
        "about", "blob", "data", "file", "ftp", "http", "https", "javascript", "mailto", "sms", "tel", "unknown",
        "view-source",
    ]
    /// The first line of a file that Waft has written.
    private static let mark = "# Written by `waft desktop install`; Waft replaces it when the handlers change."
    private static let homeKey = "X-Waft-Home"
    private static let typePrefix = "x-scheme-handler/"

    /// The value of `Exec`.
    package let command: String
    /// `WAFT_HOME` of the Waft whose handlers open the URLs, as the value of a key; nil for the usual one.
    package let home: String?
    /// Without those that are never claimed, in alphabetical order.
    package let schemes: [String]

    private init(command: String, home: String?, schemes: [String]) {
        self.command = command
        self.home = home
        self.schemes = schemes.filter(Self.claims).sorted()
    }

    /// - Parameters:
    ///   - program: the absolute path of `waft`.
    ///   - home: an absolute path, as `home`.
    ///   - schemes: of the handlers; lower-case schemes by RFC 3986.
    package init(program: String, home: String?, schemes: [String]) {
        let words = (home.map { ["env", "WAFT_HOME=\($0)"] } ?? []) + [program, "open"]
        // The field code stands alone: it may not be quoted.
        let command = (words.map(DesktopEntryWord.quoted) + ["%u"]).joined(separator: " ")
        self.init(
            command: DesktopEntryWord.value(command), home: home.map(DesktopEntryWord.value), schemes: schemes)
    }

    /// - Returns: nil for a file that Waft has not written.
    package init?(reading text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first == Self.mark[...] else { return nil }
        func value(_ key: String) -> String? {
            lines.first { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
        }
        guard let command = value("Exec") else { return nil }
        let types = value("MimeType")?.split(separator: ";") ?? []
        self.init(
            command: command, home: value(Self.homeKey),
            schemes: types.filter { $0.hasPrefix(Self.typePrefix) }.map { String($0.dropFirst(Self.typePrefix.count)) })
    }

    /// Whether it was made for this home.
    /// - Parameter home: `WAFT_HOME` as an absolute path; nil for the usual one.
    package func isOf(home: String?) -> Bool { self.home == home.map(DesktopEntryWord.value) }

    /// Whether the entry claims a scheme if a handler opens it.
    package static func claims(_ scheme: String) -> Bool { !unclaimed.contains(scheme) }

    /// The same entry with other schemes.
    package func with(schemes: [String]) -> SchemeEntry {
        SchemeEntry(command: command, home: home, schemes: schemes)
    }

    /// The contents of the file.
    package var text: String {
        var lines = [
            Self.mark, "[Desktop Entry]", "Type=Application", "Version=1.4", "Name=Waft",
            "Comment=Open URLs with the handlers of Waft", "Exec=\(command)", "Icon=org.waft.Waft", "Terminal=false",
            "NoDisplay=true", "StartupNotify=false",
        ]
        if let home { lines.append("\(Self.homeKey)=\(home)") }
        if !schemes.isEmpty {
            lines.append("MimeType=" + schemes.map { "\(Self.typePrefix)\($0);" }.joined())
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
