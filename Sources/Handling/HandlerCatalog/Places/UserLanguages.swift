/// The languages that a user reads, from the environment.
package enum UserLanguages {
    private static let maximum = 12

    /// Names as in folders `NAME.lproj`, in order of preference; `en` is the last.
    ///
    /// For `de_AT.UTF-8` these are `de_AT`, `de-AT`, `de` and `en`. `LANGUAGE` counts only if the locale is not `C`, as
    /// in gettext.
    package static func names(_ environment: [String: String]) -> [String] {
        let settings = ["LC_ALL", "LC_MESSAGES", "LANG"].map { environment[$0] ?? "" }
        let locale = settings.first { !$0.isEmpty } ?? ""
        let list = locale.isEmpty || isStandard(locale) ? [] : (environment["LANGUAGE"] ?? "").split(separator: ":")
        var names: [String] = []
        for text in (list.map(String.init) + [locale]).prefix(maximum) {
            for name in variants(of: text) where !names.contains(name) { names.append(name) }
        }
        return names.filter { $0 != "en" }.prefix(maximum) + ["en"]
    }

    /// Whether the locale is the standard one of programs.
    private static func isStandard(_ locale: String) -> Bool {
        ["C", "POSIX"].contains(locale.prefix { $0 != "." })
    }

    private static func variants(of locale: String) -> [String] {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        let parts = name.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "_" || $0 == "-" }
        guard let language = parts.first, isWord(language, 2...3), !isStandard(locale) else { return [] }
        guard parts.count == 2, isWord(parts[1], 2...8) else { return [String(language)] }
        return ["\(language)_\(parts[1])", "\(language)-\(parts[1])", String(language)]
    }

    private static func isWord(_ text: Substring, _ length: ClosedRange<Int>) -> Bool {
        length.contains(text.utf8.count) && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
