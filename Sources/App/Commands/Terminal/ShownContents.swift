import Foundation
import Sharing

/// Parts of a transfer that are shown on a terminal for themselves.
enum ShownContents {
    /// Bytes and lines of a text that are shown.
    private static let textBytes = 2_048
    private static let textLines = 20
    /// Names that are listed.
    private static let names = 10

    /// A text that has arrived, escaped line by line; a text that is too long ends with `…`. Blocks on the disk.
    static func lines(ofTextAt path: String) -> [String] {
        guard let file = FileHandle(forReadingAtPath: path), let bytes = try? file.read(upToCount: textBytes + 1) else {
            return []
        }
        let text = String(decoding: bytes.prefix(textBytes), as: UTF8.self)
        let all = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let shown = all.prefix(textLines).map { TerminalText.escaped(String($0), limit: textBytes) }
        return bytes.count > textBytes || all.count > textLines ? shown + [Glyph.ellipsis] : shown
    }

    /// Names of the items whose contents were in the Inbox before, escaped; further names are counted.
    static func names(alreadyThere receipt: Receipt) -> [String] {
        let all = receipt.items.lazy.filter { $0.isAlready && !$0.isAgain }.compactMap { item -> String? in
            guard case .stored(let name, _, _) = item.outcome else { return nil }
            return TerminalText.escaped(name)
        }
        let rest = all.dropFirst(names).count { _ in true }
        return Array(all.prefix(names)) + (rest > 0 ? ["and \(rest) more"] : [])
    }
}
