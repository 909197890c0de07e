import ContentCheck
import HandlerCatalog
import Previews
import UniformTypes

/// A preview for programs.
struct PreviewFields: FieldGroups {
    enum Form: String, Encodable {
        case text, image, document, archive, folder, link
    }

    struct Member: Encodable {
        /// The path in the archive or folder.
        var member: String
        /// `file`, `tree`, `link` or `other`.
        var kind: String
        var size: UInt64?
    }

    struct Shown: Encodable {
        var type: String
        var size: UInt64?
        var content: String?
        var contentType: String?
        var contentExplanation: String?
        var shownAs: Form
        var encoding: String?
        var lines: [String]?
        /// Whether there is more than is shown.
        var isCut: Bool?
        var pixelWidth: UInt32?
        var pixelHeight: UInt32?
        var pageCount: Int?
        var members: [Member]?
        var urlParts: URLParts?

        init(type: String, shownAs: Form) { (self.type, self.shownAs) = (type, shownAs) }
    }

    var subject: EventLine.Subject
    var shown: Shown

    var groups: [any Encodable] { [subject, shown] }

    init(subject: EventLine.Subject, shown: Shown) { (self.subject, self.shown) = (subject, shown) }

    init(_ preview: DocumentPreview) {
        subject = preview.subject.event
        shown = Shown(type: preview.type.identifier, shownAs: .text)
        shown.size = preview.size
        shown.content = preview.verdict?.outcome.rawValue
        shown.contentType = preview.verdict?.contentType?.identifier
        shown.contentExplanation = preview.verdict?.explanation
        switch preview.shown {
        case .text(let text):
            (shown.encoding, shown.lines, shown.isCut) = (text.encoding.rawValue, text.lines, text.isCut)
        case .image(let size, _):
            shown.shownAs = .image
            (shown.pixelWidth, shown.pixelHeight) = (size.width, size.height)
        case .document(let pages, let text):
            shown.shownAs = .document
            (shown.pageCount, shown.lines) = (pages, text)
        case .archive(let listing):
            shown.shownAs = .archive
            shown.members = listing.members.map {
                Member(member: $0.path, kind: $0.kind == .folder ? "tree" : $0.kind.rawValue, size: $0.size)
            }
            shown.isCut = listing.isCut
        case .folder(let tree):
            shown.shownAs = .folder
            (shown.members, shown.isCut) = (Self.members(tree), tree.isCut)
        case .link(let url):
            shown.shownAs = .link
            shown.urlParts = url
        case nil: break
        }
    }

    /// With whole paths.
    private static func members(_ tree: FolderTree) -> [Member] {
        var folders: [String] = []
        return tree.entries.compactMap { entry in
            folders.removeLast(max(0, folders.count - entry.level))
            let path = (folders + [entry.name]).joined(separator: "/")
            switch entry.kind {
            case .file(let size): return Member(member: path, kind: "file", size: size)
            case .folder:
                folders.append(entry.name)
                return Member(member: path, kind: "tree")
            case .link: return Member(member: path, kind: "link")
            case .other: return Member(member: path, kind: "other")
            case .omitted: return nil
            }
        }
    }
}
