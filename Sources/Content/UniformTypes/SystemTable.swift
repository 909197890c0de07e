private import Synchronization

/// The types that are known without anybody's declaration: those of Apple's systems, and a few common formats that Apple
/// declares nothing for, under `org.waft.`.
///
/// The rows are generated (`Scripts/generate-types`); this is how they are read. Nothing is built at start.
enum SystemTable {
    private static var typeTable: SortedTable { SortedTable(typeRows) }
    private static var extensionTable: SortedTable { SortedTable(extensionRows) }
    private static var mimeTable: SortedTable { SortedTable(mimeRows) }

    /// What a row says of a type; each property is read out of the row when it is asked for.
    struct Declaration {
        fileprivate let row: SortedTable.Row

        /// The type in its declared case.
        var type: UniformType { UniformType(known: row.field(0).text) }
        /// In declared order.
        var parents: [UniformType] { row.field(1).list.map { UniformType(known: $0) } }
        /// Lower-case, the preferred one first.
        var extensions: [String] { row.field(2).list }
        /// In declared case, the preferred one first.
        var mimeTypes: [String] { row.field(3).list }
        /// nil where none is known.
        var description: String? { row.field(4).isEmpty ? nil : row.field(4).text }

        var preferredExtension: String? { row.field(2).first }
        var preferredMIMEType: String? { row.field(3).first }
    }

    /// The type that a tag stands for.
    struct Match: Sendable {
        let type: UniformType
        /// Whether a handler's declaration of the same tag goes before it: Waft's own types stand in for missing ones.
        let yields: Bool

        fileprivate init?(_ field: SortedTable.Field) {
            guard !field.isEmpty else { return nil }
            let text = field.text
            yields = text.utf8.first == UInt8(ascii: "?")
            type = UniformType(known: yields ? String(text.dropFirst()) : text)
        }
    }

    /// What regular files' extensions have been found to stand for. Tens of thousands of files are of a few types: the text of
    /// each is held once. Nothing is in it that is not in the table.
    private static let found = Mutex<[String: Match]>([:])

    static func declaration(of type: UniformType) -> Declaration? {
        typeTable.row(for: type.identifier).map { Declaration(row: $0) }
    }

    /// The type of an item with a lower-case extension. Where several types declare it, the table has chosen.
    static func match(forExtension fileExtension: String, kind: FileKind) -> Match? {
        if kind == .regularFile, let match = found.withLock({ $0[fileExtension] }) { return match }
        guard let row = extensionTable.row(for: fileExtension) else { return nil }
        switch kind {
        case .regularFile:
            let match = Match(row.field(1))
            if let match { found.withLock { $0[fileExtension] = match } }
            return match
        case .directory:
            return Match(row.field(2))
        }
    }

    /// The type of a MIME type in the form that `MIMEType.normalized` gives.
    static func match(forMIMEType mimeType: String) -> Match? {
        mimeTable.row(for: mimeType).flatMap { Match($0.field(1)) }
    }

    /// All declared types, in the order of their lower-case identifiers.
    static var types: [UniformType] { typeTable.rows.map { Declaration(row: $0).type } }
}
