/// Paths by their bytes.
///
/// To the kernel a slash is one byte. To Swift's strings a slash and a combining mark after it are one `Character`, which
/// is no slash: `split(separator: "/")`, `hasPrefix("/")` and `lastIndex(of: "/")` miss it, and a file name may begin with
/// such a mark. Every path from a disk, a user or a peer is taken apart here.
package enum PathText {
    private static let slash = UInt8(ascii: "/")

    package static func isAbsolute(_ path: some StringProtocol) -> Bool { path.utf8.first == slash }

    /// The names between the slashes of a path, in their order.
    /// - Parameter keepingEmpty: whether empty names count: between two slashes, before the first, after the last.
    package static func names(in path: String, keepingEmpty: Bool = false) -> [Substring] {
        path.utf8.split(separator: slash, omittingEmptySubsequences: !keepingEmpty).map { Substring($0) }
    }

    /// The last name; empty for `/` and for an empty path. Slashes at the end do not count.
    package static func lastName(of path: String) -> String {
        let end = path.utf8.lastIndex { $0 != slash }.map { path.utf8.index(after: $0) } ?? path.startIndex
        let start = path.utf8[..<end].lastIndex(of: slash).map { path.utf8.index(after: $0) } ?? path.startIndex
        return String(path[start..<end])
    }

    /// Joins both with one slash; the folder may end with one already.
    package static func joined(_ folder: String, _ name: String) -> String {
        folder.utf8.last == slash ? folder + name : folder + "/" + name
    }

    /// The part of a path that lies below a folder, without a slash before it.
    /// - Parameter folder: without a slash at its end, unless it is `/`.
    /// - Returns: nil for the folder itself, and for a path that is not below it by name.
    package static func part(of path: String, below folder: String) -> String? {
        let beginning = joined(folder, "").utf8
        guard path.utf8.count > beginning.count, path.utf8.starts(with: beginning) else { return nil }
        return String(path[path.utf8.index(path.startIndex, offsetBy: beginning.count)...])
    }

    /// A path or name for a message of one line: nothing in it moves the cursor, ends the line, turns the direction of
    /// text, or changes how the character before a name looks.
    /// - Parameter limit: most characters of the result, the ellipsis included.
    package static func printable(_ text: String, limit: Int = 4_096) -> String {
        var result = ""
        var count = 0
        var beginsName = true
        let scalars = text.unicodeScalars
        for index in scalars.indices {
            let scalar = scalars[index]
            let isMark = beginsName && ("/" + String(scalar)).count == 1
            let piece = isMark ? ShownText.number(of: scalar) : ShownText.escaped(at: index, in: scalars)
            beginsName = scalar == "/"
            count += piece.unicodeScalars.count
            if count > limit - 1 { return result + "…" }
            result.unicodeScalars += piece.unicodeScalars
        }
        return result
    }
}

extension NameError {
    /// The refused name with the reason: `"a\u{A}b": the name contains control or direction-changing characters`.
    package func said(of name: String) -> String { "\"\(PathText.printable(name, limit: 120))\": \(self)" }
}
