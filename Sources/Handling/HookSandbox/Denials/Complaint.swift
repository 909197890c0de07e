/// A program's line about a denied access, with the paths in it. Programs have no common form for it:
///
///     cp: cannot create regular file '/a/b': Permission denied
///     hook.sh: 3: cannot create /a/b: Permission denied
///     PermissionError: [Errno 13] Permission denied: '/a/b'
///     open /a/b: permission denied
///     OSError: [Errno 18] Invalid cross-device link: '/a/b' -> '/c/d'
struct Complaint {
    /// Whether the error was EXDEV, not EACCES.
    let isCrossDevice: Bool
    /// Whether it names a change of a file. If not, and the file exists, it may be about reading.
    let isOfWriting: Bool
    /// The absolute paths in it, in order.
    let paths: [String]

    private static let denied = "permission denied"
    private static let crossDevice = "invalid cross-device link"
    private static let changes = ["create", "writ", "touch", "mkdir", "remove", "move", "unlink", "rename", "link"]
    private static let quotes: [Character: Character] = ["'": "'", "‘": "’", "\"": "\"", "`": "'"]

    /// - Returns: `nil` for a line that reports no denied access, or names no absolute path.
    init?(_ line: some StringProtocol) {
        let lowered = line.lowercased()
        isCrossDevice = lowered.contains(Self.crossDevice)
        isOfWriting = Self.changes.contains { lowered.contains($0) }
        guard isCrossDevice || lowered.contains(Self.denied) else { return nil }
        let quoted = Self.quotedPaths(in: line)
        paths = (quoted.isEmpty ? Self.barePaths(in: line) : quoted).filter { path in
            !path.unicodeScalars.contains { $0.properties.generalCategory == .control }
                && path.utf8.count <= SandboxPlan.longestPath
                // `..` would hide the real place of a path.
                && !path.utf8.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual("..".utf8) }
        }
        if paths.isEmpty { return nil }
    }

    /// The quoted texts that begin with a slash.
    private static func quotedPaths(in line: some StringProtocol) -> [String] {
        var found: [String] = []
        var rest = line[...]
        while let start = rest.firstIndex(where: { quotes[$0] != nil }) {
            let inside = rest[rest.index(after: start)...]
            guard let closing = quotes[rest[start]], let end = inside.firstIndex(of: closing) else { break }
            // An apostrophe (`can't`) does not begin a quoted text.
            guard inside.first == "/" else {
                rest = inside
                continue
            }
            found.append(String(inside[..<end]))
            rest = inside[inside.index(after: end)...]
        }
        return found
    }

    /// The last path without quotes: from a slash that begins a word to the next `: ` or the end of the line. The
    /// program's own path, which comes first, is used only if there is no other.
    private static func barePaths(in line: some StringProtocol) -> [String] {
        var found: [String] = []
        for part in line.split(separator: ": ") {
            var previous: Character = " "
            for index in part.indices {
                if part[index] == "/", previous == " " {
                    found.append(String(part[index...]))
                    break
                }
                previous = part[index]
            }
        }
        return Array(found.suffix(1))
    }
}
