/// The name of one file or folder, fit to be created in a folder of ours: the only way a foreign name reaches the disk.
///
/// An unfit name is refused with the reason: a tree with changed names is not the tree that was sent. Senders check
/// with the same type, so that the user learns it before any data is sent. If a sender cannot be told about one name,
/// the name is changed (`init(fitting:)`), and the user learns it.
package struct SafeName: Hashable, Sendable, CustomStringConvertible {
    /// Maximum bytes in a name: the limit of Linux file systems (`NAME_MAX`).
    package static let maximumBytes = 255

    /// The name, valid UTF-8, 1...255 bytes.
    package let text: String

    package var description: String { text }

    /// - Throws: `NameError` with the problem of `text`.
    package init(_ text: String) throws(NameError) {
        let bytes = text.utf8
        if bytes.isEmpty { throw .empty }
        if bytes.count > Self.maximumBytes { throw .tooLong }
        if text == "." || text == ".." { throw .dots }
        if !bytes.allSatisfy(Self.isPlain) {
            for scalar in text.unicodeScalars {
                if scalar == "/" { throw .separator }
                if !Self.isPrintable(scalar) { throw .unprintable }
            }
        }
        self.text = text
    }

    /// Whether a byte is printable ASCII and no separator. Most names have no others, and this checks each byte once:
    /// it runs for every file of a tree.
    static func isPlain(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "/") }

    /// Control characters move cursors and end lines; bidirectional controls make `gpj.exe` out of `exe.jpg`.
    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F: false
        case 0x2028, 0x2029: false
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        case 0xFEFF, 0xFFF9...0xFFFB: false
        default: true
        }
    }

    /// The same name with `-n` before its extension, for a name that is taken.
    ///
    /// The stem is cut at a character boundary where the result would be longer than `limit`.
    /// - Parameters:
    ///   - number: 1 or more.
    ///   - limit: bytes of the result, at most; 64 or more.
    package func numbered(_ number: Int, within limit: Int = maximumBytes) -> SafeName {
        let (stem, suffix) = split
        return Self.cut(stem, "-\(number)" + suffix, limit)
    }

    /// The same name with a shorter stem, if it is longer than `limit`: in bytes, 64 or more.
    package func shortened(to limit: Int) -> SafeName {
        let (stem, suffix) = split
        return Self.cut(stem, String(suffix), limit)
    }

    private static func cut(_ stem: Substring, _ tail: String, _ limit: Int) -> SafeName {
        var head = stem
        while head.utf8.count + tail.utf8.count > limit, !head.isEmpty { head.removeLast() }
        return SafeName(trusted: String(head) + tail)
    }

    /// This name, or the first numbered one that is not among those taken; takes it.
    package func free(_ taken: inout Set<SafeName>) -> SafeName {
        var (free, number) = (self, 0)
        while !taken.insert(free).inserted {
            number += 1
            free = numbered(number)
        }
        return free
    }

    /// Whether the other name is this one, or a result of `shortened` or `numbered` for a limit of 240 bytes or more.
    package func isNumbered(_ name: SafeName) -> Bool {
        let limit = max(text.utf8.count, 240)
        if self == name || self == name.shortened(to: limit) { return true }
        let digits = split.stem.reversed().prefix { $0.isASCII && $0.isNumber }.reversed()
        guard let number = Int(String(digits)), number > 0 else { return false }
        return name.numbered(number, within: limit) == self
    }

    /// The stem, and the extension with its dot; `.tar.gz` and the like stay whole, `.bashrc` has no extension.
    package var split: (stem: Substring, suffix: Substring) {
        // By bytes: a dot and a combining mark after it are one `Character`.
        let bytes = text.utf8
        guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")), dot != bytes.startIndex else { return (text[...], "") }
        var start = dot
        let stem = bytes[..<dot]
        if stem.count > 4, stem.suffix(4).elementsEqual(".tar".utf8) { start = bytes.index(dot, offsetBy: -4) }
        // A very long "extension" is part of the name; cutting the stem for it would leave nothing to recognise.
        if bytes[start...].count > 32 { return (text[...], "") }
        return (text[..<start], text[start...])
    }

    init(trusted text: String) {
        self.text = text
    }

    // Names on the disk are bytes: `é` as one character and as two are two names there, and equal strings here.

    package static func == (left: SafeName, right: SafeName) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

/// Why a name cannot be used.
package struct NameError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Code: Hashable, Sendable {
        case empty, tooLong, dots, separator, unprintable, notUTF8, tooDeep, absolute, leavesTree
    }

    private let code: Code
    private init(_ code: Code) { self.code = code }

    package static let empty = NameError(.empty)
    package static let tooLong = NameError(.tooLong)
    package static let dots = NameError(.dots)
    package static let separator = NameError(.separator)
    package static let unprintable = NameError(.unprintable)
    package static let notUTF8 = NameError(.notUTF8)
    package static let tooDeep = NameError(.tooDeep)
    package static let absolute = NameError(.absolute)
    package static let leavesTree = NameError(.leavesTree)

    package var description: String {
        switch code {
        case .empty: "the name is empty"
        case .tooLong: "the name is longer than \(SafeName.maximumBytes) bytes"
        case .dots: "the name is . or .."
        case .separator: "the name contains a slash"
        case .unprintable: "the name contains control or direction-changing characters"
        case .notUTF8: "the name is not UTF-8"
        case .tooDeep:
            "the path is deeper than \(SafeRelativePath.maximumDepth) folders or longer than "
                + "\(SafeRelativePath.maximumBytes) bytes"
        case .absolute: "the path is absolute"
        case .leavesTree: "the link leads out of its folder"
        }
    }
}
