import Foundation
import Sharing
import UniformTypes

/// The answer of a source program to `placeholder`: one JSON document.
struct Placeholder: Decodable {
    /// Bytes of the document.
    static let maximumBytes = 64 << 10

    enum Kind: String, Decodable {
        case file
        case text
        case url
        /// A folder, which the program makes as a tar archive.
        case tree
    }

    var name: String
    var type: String?
    var kind: Kind?
    /// Bytes; nil if they are not known. Of a folder: of all its files.
    var size: UInt64?
    /// Of a folder: its files, folders and links, itself included.
    var entries: UInt64?
    var subject: String?
    /// Whether the program answers to `thumbnail`.
    var thumbnail: Bool?
    /// Whether `item` can be asked more than once.
    var repeatable: Bool?

    init(name: String) { self.name = name }

    /// - Throws: one clause.
    static func read(_ bytes: [UInt8]) throws(PlaceholderError) -> Placeholder {
        do {
            return try JSONDecoder().decode(Placeholder.self, from: Data(bytes))
        } catch DecodingError.keyNotFound(let key, _) {
            throw PlaceholderError("its document has no \"\(key.stringValue)\"")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw PlaceholderError("\"\(context.codingPath.last?.stringValue ?? "")\" of its document has another form")
        } catch {
            throw PlaceholderError(
                "its document is not as it should be, for example {\"name\": \"report.pdf\", \"size\": 1000}")
        }
    }

    /// - Throws: one clause.
    func offered(_ registry: TypeRegistry) throws(PlaceholderError) -> OfferedItem {
        let safe: SafeName
        do {
            safe = try SafeName(name)
        } catch {
            throw PlaceholderError("its name cannot be sent: \(error.said(of: name))")
        }
        var uniform: UniformType?
        if let type {
            guard type.contains("."), let known = UniformType(type) else {
                throw PlaceholderError("its type is no uniform type identifier")
            }
            uniform = known
        }
        let kind: ItemKind =
            switch self.kind ?? .file {
            case .file: .file
            case .text: .text
            case .url: .url
            case .tree: .tree
            }
        if kind == .tree {
            guard let size, let entries, (1...Limits.entriesPerItem).contains(entries), size <= Limits.itemBytes else {
                throw PlaceholderError("a folder has a \"size\" and \"entries\", which counts the folder too")
            }
        }
        let standard: UniformType =
            switch kind {
            case .text: .utf8PlainText
            case .url: .url
            default: registry.type(forFileName: safe.text, kind: kind == .tree ? .directory : .regularFile)
            }
        let item = OfferedItem(
            kind: kind, name: safe,
            type: uniform ?? standard,
            // That of a URL is not known before its file is made.
            size: kind == .url ? nil : size, entries: kind == .tree ? entries : 1)
        if let disagreement = item.disagreement(by: registry) { throw PlaceholderError(disagreement) }
        return item
    }
}

/// The fault of a placeholder: one clause.
struct PlaceholderError: Error {
    let clause: String

    init(_ clause: String) {
        self.clause = clause
    }
}
