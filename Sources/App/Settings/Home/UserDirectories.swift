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
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0 == " " || $0 == "\t" }
            guard line.hasPrefix("\(variable)=\""), line.hasSuffix("\"") else { continue }
            let value = String(line.dropFirst(variable.count + 2).dropLast())
            let path = PathText.part(of: value, below: "$HOME").map { home + "/" + $0 } ?? value
            // The home folder itself stands for "none" in that file.
            return PathText.isAbsolute(path) ? path : nil
        }
        return nil
    }
}
