import Glibc

/// Waft's own signs that are not ASCII, and their replacements if the locale has no UTF-8.
enum Glyph {
    /// Whether the locale of the environment has UTF-8. Foreign text is printed as it is in any case.
    private static let hasUTF8 = isUTF8 { name in getenv(name).map { String(cString: $0) } }

    static let arrow = sign("→", "->")
    /// The mark of a contact.
    static let check = sign("✓", "(contact)")
    static let ellipsis = sign("…", "...")
    static let full = sign("█", "#")
    static let empty = sign("·", ".")

    /// The first of the variables that is set and not empty decides, as in POSIX. Without any, a terminal is assumed to
    /// have UTF-8.
    static func isUTF8(_ variable: (String) -> String?) -> Bool {
        let names = ["LC_ALL", "LC_CTYPE", "LANG"]
        guard let locale = names.lazy.compactMap(variable).first(where: { !$0.isEmpty }) else { return true }
        let lower = locale.lowercased()
        return lower.contains("utf-8") || lower.contains("utf8")
    }

    private static func sign(_ sign: String, _ plain: String) -> String { hasUTF8 ? sign : plain }
}
