import Foundation

/// An indented block of code in a Markdown file.
package struct CodeBlock: Sendable {
    /// The number of its first line in the file, from 1.
    package let line: Int
    /// Without the four spaces of the indentation.
    package let lines: [String]

    /// The blocks of a file of this repository. Empty lines between indented ones belong to a block.
    ///
    /// - Parameter path: below the root of the repository.
    package static func all(in path: String) throws -> [CodeBlock] {
        var blocks: [CodeBlock] = []
        var (first, lines, empty) = (0, [String](), 0)
        func block() -> [CodeBlock] { lines.isEmpty ? [] : [CodeBlock(line: first, lines: lines)] }
        for (index, line) in try text(of: path).split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if line.hasPrefix("    ") {
                if lines.isEmpty { first = index + 1 }
                lines += Array(repeating: "", count: lines.isEmpty ? 0 : empty) + [String(line.dropFirst(4))]
                empty = 0
            } else if line.isEmpty {
                empty += 1
            } else {
                blocks += block()
                (lines, empty) = ([], 0)
            }
        }
        return blocks + block()
    }

    /// The contents of a file of this repository.
    package static func text(of path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }
}
