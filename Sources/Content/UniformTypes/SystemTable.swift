private import Synchronization

/// The built-in types: those of Apple's systems, and, under `org.waft.`, a few common formats that Apple does not
/// declare.
///
/// The rows are generated (`Scripts/generate-types`); this is how they are read. Nothing is built at start.
enum SystemTable {
    private static var typeTable: SortedTable { SortedTable(typeRows) }
    private static var extensionTable: SortedTable { SortedTable(extensionRows) }
    private static var mimeTable: SortedTable { SortedTable(mimeRows) }

    /// The declaration in a row; each property is read from the row on access.
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
        /// nil if none is known.
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

    /// The types found so far for regular files' extensions. Tens of thousands of files are of a few types: the text of
    /// each is held once. All entries are in the table.
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
