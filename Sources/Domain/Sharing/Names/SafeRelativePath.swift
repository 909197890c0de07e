/// The place of an entry in a tree that is being sent: safe names joined by `/`, never absolute, never upwards.
package struct SafeRelativePath: Hashable, Sendable, CustomStringConvertible {
    /// Most names in a path; keeps open folders and recursion bounded.
    package static let maximumDepth = 128
    /// Most bytes in a path: `PATH_MAX` less room for the folder it is put in.
    package static let maximumBytes = 3_072

    /// One or more names joined by `/`.
    package let text: String

    package var description: String { text }

    /// - Throws: `NameError` for an empty path, an unsafe name in it, too many names, or too many bytes.
    package init(_ text: String) throws(NameError) {
        if text.utf8.isEmpty { throw .empty }
        if text.utf8.first == UInt8(ascii: "/") { throw .absolute }
        if text.utf8.count > Self.maximumBytes { throw .tooDeep }
        if !Self.isPlain(text) {
            let names = PathText.names(in: text, keepingEmpty: true)
            if names.count > Self.maximumDepth { throw .tooDeep }
            for name in names { _ = try SafeName(String(name)) }
        }
        self.text = text
    }

    /// Whether it is a safe path in plain ASCII.
    private static func isPlain(_ text: String) -> Bool {
        var depth = 1
        var length = 0
        var dots = 0
        for byte in text.utf8 {
            if byte == UInt8(ascii: "/") {
                guard isPlainName(length, dots) else { return false }
                (depth, length, dots) = (depth + 1, 0, 0)
            } else {
                guard SafeName.isPlain(byte) else { return false }
                length += 1
                if byte == UInt8(ascii: ".") { dots += 1 }
            }
        }
        return isPlainName(length, dots) && depth <= maximumDepth
    }

    private static func isPlainName(_ length: Int, _ dots: Int) -> Bool {
        (1...SafeName.maximumBytes).contains(length) && !(length <= 2 && dots == length)
    }

    package init(_ name: SafeName) {
        self.text = name.text
    }

    private init(trusted text: String) {
        self.text = text
    }

    // By bytes, as `SafeName` says.

    package static func == (left: SafeRelativePath, right: SafeRelativePath) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// - Throws: `NameError.tooDeep` where the longer path would pass the limits.
    package func appending(_ name: SafeName) throws(NameError) -> SafeRelativePath {
        let longer = text + "/" + name.text
        if longer.utf8.count > Self.maximumBytes || depth + 1 > Self.maximumDepth { throw .tooDeep }
        return SafeRelativePath(trusted: longer)
    }

    /// Whether it comes before another path in byte order: a folder before its contents, the names in a folder by their
    /// bytes.
    package func precedes(_ other: SafeRelativePath) -> Bool {
        // The end of a name ranks below every byte in a name, because no name contains a NUL.
        func rank(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "/") ? 0 : byte }
        return text.utf8.lexicographicallyPrecedes(other.text.utf8) { rank($0) < rank($1) }
    }

    /// Names in the path: 1...`maximumDepth`.
    package var depth: Int { text.utf8.reduce(1) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 } }

    /// The folder that holds it, nil at the top of the tree.
    package var parent: SafeRelativePath? {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return SafeRelativePath(trusted: String(text[..<slash]))
    }

    /// Whether `parent` is this folder, found out without making it: the same is asked for every file of a tree.
    package func lies(in folder: SafeRelativePath?) -> Bool {
        var path = text.utf8[...]
        if let folder {
            let beginning = folder.text.utf8
            guard path.count > beginning.count + 1, path.starts(with: beginning) else { return false }
            path = path.dropFirst(beginning.count)
            guard path.popFirst() == UInt8(ascii: "/") else { return false }
        }
        return !path.contains(UInt8(ascii: "/"))
    }

    /// Whether it is below `folder`, at any depth.
    package func isBelow(_ folder: SafeRelativePath) -> Bool { PathText.part(of: text, below: folder.text) != nil }

    /// The last name.
    package var name: String {
        PathText.lastName(of: text)
    }
}

/// The target of a symbolic link inside a tree: relative, and inside the same tree.
///
/// The check is by name alone: `a/b -> ../c` stays, `b -> ../c` leaves. Links through links are no way out either:
/// each link of the tree is held to the same rule, so following any chain of them stays inside.
package struct SafeLinkTarget: Hashable, Sendable {
    /// Most bytes in a target.
    package static let maximumBytes = SafeRelativePath.maximumBytes

    package let text: String

    /// - Parameters:
    ///   - text: the target as written in the link.
    ///   - link: the path of the link itself in its tree.
    /// - Throws: `NameError` if the target is absolute, leaves the tree, or has unfit characters.
    package init(_ text: String, of link: SafeRelativePath) throws(NameError) {
        if text.utf8.isEmpty { throw .empty }
        if text.utf8.first == UInt8(ascii: "/") { throw .absolute }
        if text.utf8.count > Self.maximumBytes { throw .tooDeep }
        var depth = link.depth - 1
        var climbing = true
        for part in PathText.names(in: text) {
            switch part {
            case ".":
                continue
            case "..":
                // Upwards only at the front: `dir/../..` is judged by what `dir` is on the disk, and it may be a link.
                if !climbing { throw .leavesTree }
                depth -= 1
                if depth < 0 { throw .leavesTree }
            default:
                climbing = false
                _ = try SafeName(String(part))
            }
        }
        self.text = text
    }
}
