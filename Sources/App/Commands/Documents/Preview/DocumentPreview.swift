import ContentCheck
import HandlerCatalog
import Previews
import Sharing
import UniformTypes

/// The preview of a document, in lines for people.
struct DocumentPreview {
    enum Shown {
        case text(TextPreview)
        /// - Parameter picture: lines that are fit for a terminal.
        case image(PixelSize, picture: [String])
        /// - Parameters:
        ///   - pages: nil if they are not known.
        ///   - text: lines of the first page.
        case document(pages: Int?, text: [String])
        case archive(ArchiveListing)
        case folder(FolderTree)
        case link(URLParts)
    }

    let subject: DocumentSubject
    /// The type that decides the form of the preview.
    var type: UniformType
    /// Bytes of a file.
    var size: UInt64?
    var verdict: ContentVerdict?
    /// How the content contradicts the declared type: a line, escaped.
    var warning: String?
    var shown: Shown?

    init(subject: DocumentSubject, type: UniformType, size: UInt64? = nil, shown: Shown? = nil) {
        (self.subject, self.type, self.size, self.shown) = (subject, type, size, shown)
    }

    /// The warning, the facts in a line, and the contents below it, indented: no line of a document can be taken for a
    /// line of Waft.
    var text: [String] {
        let facts = [TerminalText.escaped(type.identifier)] + [size.map(ByteCount.text)].compactMap(\.self) + self.facts
        let head = "\(subject.head): \(facts.joined(separator: ", "))"
        return [warning].compactMap(\.self) + [head] + contents.map { $0.isEmpty ? "" : "  \($0)" }
    }

    private var facts: [String] {
        switch shown {
        case .text(let text): [text.lines.isEmpty ? "empty" : text.encoding.rawValue]
        case .image(let size, _): ["\(size.width) x \(size.height) pixels"]
        case .document(let pages?, _): [pages == 1 ? "1 page" : "\(pages) pages"]
        case .archive(let listing):
            listing.isCut
                ? ["the first \(listing.members.count) names"]
                : [listing.members.count == 1 ? "1 name" : "\(listing.members.count) names"]
        case .folder(let tree) where tree.entries.isEmpty: ["empty"]
        case .document, .folder, .link, nil: []
        }
    }

    private var contents: [String] {
        switch shown {
        case .text(let text): text.lines.map(Self.line) + (text.isCut ? [Glyph.ellipsis] : [])
        case .image(_, let picture): picture
        case .document(_, let text): text.map(Self.line)
        case .archive(let listing): listing.members.map(Self.line) + (listing.isCut ? [Glyph.ellipsis] : [])
        case .folder(let tree): tree.entries.map(Self.line)
        case .link(let url): Self.lines(url)
        case nil: []
        }
    }

    // MARK: Lines, escaped

    /// Characters of a line that are shown.
    private static let width = 500
    private static let tabStop = 8

    private static func line(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        var column = 0
        for scalar in text.unicodeScalars {
            guard column < width else { return ShownText.escaped(String(shown)) + Glyph.ellipsis }
            let spaces = scalar == "\t" ? tabStop - column % tabStop : 0
            if spaces > 0 {
                shown.append(contentsOf: repeatElement(" ", count: spaces))
            } else {
                shown.append(scalar)
            }
            column += max(1, spaces)
        }
        return ShownText.escaped(String(shown))
    }

    private static func line(_ member: ArchiveListing.Member) -> String {
        let size = member.size.map(ByteCount.text) ?? (member.kind == .file ? "" : member.kind.rawValue)
        return row(size, TerminalText.escaped(member.path, limit: width))
    }

    private static func line(_ entry: FolderTree.Entry) -> String {
        let margin = String(repeating: "  ", count: entry.level)
        let name = margin + TerminalText.escaped(entry.name, limit: width)
        return switch entry.kind {
        case .file(let size): row(ByteCount.text(size), name)
        case .folder: row("", name + "/")
        case .link: row("link", name)
        case .other: row("other", name)
        case .omitted(let count): row("", "\(margin)\(Glyph.ellipsis) \(count) more")
        }
    }

    private static func row(_ size: String, _ name: String) -> String {
        String(repeating: " ", count: max(0, 10 - size.count)) + size + "  " + name
    }

    private static func lines(_ url: URLParts) -> [String] {
        let parts: [(String, String?)] = [
            ("url", url.text), ("scheme", url.scheme.text), ("user", url.user), ("password", url.password),
            ("host", url.host), ("port", url.port.map { String($0) }), ("path", url.path.isEmpty ? nil : url.path),
            ("query", url.query), ("fragment", url.fragment),
        ]
        return parts.compactMap { name, value in
            value.map { name + String(repeating: " ", count: 10 - name.count) + TerminalText.escaped($0, limit: 1_000) }
        }
    }
}
