import HandlerCatalog
import SystemCalls

/// The variables of an environment that a script names, and does not get.
enum ScriptVariables {
    /// Bytes of a script that is read; a longer program is passed over.
    private static let limit = 256 << 10
    /// Those that every shell sets itself.
    private static let ofShells: Set<String> = [
        "PWD", "OLDPWD", "SHLVL", "_", "IFS", "PS1", "PS4", "OPTIND", "HOSTNAME",
    ]

    /// - Parameters:
    ///   - path: of a program; one that is no script names none.
    ///   - variables: those that the program gets.
    /// - Returns: the names in order.
    static func missing(
        in path: String, _ variables: ProgramVariables, of environment: [String: String]
    ) -> [String] {
        guard let bytes = try? SmallFile.read(path, limit: limit), bytes.starts(with: "#!".utf8) else { return [] }
        let text = String(decoding: bytes, as: UTF8.self)
        return environment.keys.filter { name in
            ProgramVariables.flaw(of: name) == nil && !variables.includes(name) && !ofShells.contains(name)
                && names(text, name)
        }.sorted()
    }

    /// Whether the text uses the variable as a shell does (`$NAME`, `${NAME`), or as a text in quotes (`environ["NAME"]`), and
    /// does not set it itself.
    private static func names(_ text: String, _ name: String) -> Bool {
        let isWord = { (character: Character?) in
            character.map { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) } == true
        }
        var isUsed = false
        for range in text.ranges(of: name) {
            let next = range.upperBound < text.endIndex ? text[range.upperBound] : nil
            let before = text[..<range.lowerBound]
            guard !isWord(next), !isWord(before.last) else { continue }
            if next == "=" { return false }
            let isQuoted = before.last == next && (next == "\"" || next == "'")
            if before.hasSuffix("$") || before.hasSuffix("${") || isQuoted { isUsed = true }
        }
        return isUsed
    }
}
