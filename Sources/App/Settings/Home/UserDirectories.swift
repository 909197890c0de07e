import Foundation
import Sharing

/// The folders of the user as `xdg-user-dirs` writes them down, in `user-dirs.dirs`.
package enum UserDirectories {
    /// - Parameters:
    ///   - variable: such as `XDG_DOCUMENTS_DIR`, whose line is `XDG_DOCUMENTS_DIR="$HOME/Documents"`.
    ///   - file: the path of `user-dirs.dirs`.
    ///   - home: the absolute path that `$HOME` stands for.
    /// - Returns: an absolute path; nil if the file does not name the folder.
    package static func path(of variable: String, in file: String, home: String) -> String? {
        guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
        // As xdg-user-dir does it, the last line counts.
        for line in text.split(whereSeparator: \.isNewline).reversed() {
            guard let value = value(of: variable, in: line), value.hasPrefix("$HOME") || PathText.isAbsolute(value)
            else { continue }
            let path = PathText.part(of: value, below: "$HOME").map { PathText.joined(home, $0) } ?? value
            let names = PathText.names(in: path)
            // The home folder itself stands for "none" in that file.
            return PathText.isAbsolute(path) && !names.isEmpty ? "/" + names.joined(separator: "/") : nil
        }
        return nil
    }

    /// The text between the quotes, in which a backslash stands before a sign; nil for a line of another form.
    private static func value(of variable: String, in line: Substring) -> String? {
        func skip(_ rest: inout Substring) { rest = rest.drop { $0 == " " || $0 == "\t" } }
        var rest = line
        skip(&rest)
        guard rest.hasPrefix(variable) else { return nil }
        rest = rest.dropFirst(variable.count)
        skip(&rest)
        guard rest.popFirst() == "=" else { return nil }
        skip(&rest)
        guard rest.popFirst() == "\"" else { return nil }
        var value = ""
        while let next = rest.popFirst(), next != "\"" {
            guard let sign = next == "\\" ? rest.popFirst() : next else { break }
            value.append(sign)
        }
        return value
    }
}
