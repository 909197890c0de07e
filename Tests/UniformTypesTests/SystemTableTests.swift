import Testing

@testable import UniformTypes

/// The search in the generated tables, compared with the plain text of the rows. `Scripts/check` compares the rows with
/// the data that they come from.
@Suite("The system's tables")
struct SystemTableTests {
    private func rows(_ table: StaticString) -> [[String]] {
        "\(table)".split(separator: "\n")
            .map { $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init) }
    }

    private func list(_ field: String) -> [String] { field.split(separator: ",").map(String.init) }

    @Test("each declaration is found by its identifier, with all fields of its row")
    func declarations() throws {
        let rows = rows(SystemTable.typeRows)
        #expect(rows.count == SystemTable.types.count)
        for row in rows {
            let declaration = try #require(SystemTable.declaration(of: UniformType(valid: row[0])), "\(row[0])")
            #expect(declaration.type.identifier == row[0])
            #expect(declaration.parents.map(\.identifier) == list(row[1]))
            #expect(declaration.extensions == list(row[2]))
            #expect(declaration.mimeTypes == list(row[3]))
            #expect(declaration.preferredExtension == list(row[2]).first)
            #expect(declaration.preferredMIMEType == list(row[3]).first)
            #expect(declaration.description == (row[4].isEmpty ? nil : row[4]))
        }
    }

    @Test("each extension is found, for files and for directories")
    func extensions() {
        for row in rows(SystemTable.extensionRows) {
            expect(SystemTable.match(forExtension: row[0], kind: .regularFile), row[1])
            expect(SystemTable.match(forExtension: row[0], kind: .directory), row[2])
        }
    }

    @Test("each MIME type is found")
    func mimeTypes() {
        for row in rows(SystemTable.mimeRows) { expect(SystemTable.match(forMIMEType: row[0]), row[1]) }
    }

    @Test("a type conforms to its parents, to the parents of these, and to nothing else")
    func closure() throws {
        var parents: [String: [String]] = [:]
        for row in rows(SystemTable.typeRows) { parents[row[0]] = list(row[1]) }
        func above(_ identifier: String) -> Set<String> {
            (parents[identifier] ?? []).reduce(into: [identifier]) { $0.formUnion(above($1)) }
        }
        for identifier in parents.keys {
            let found = TypeRegistry.system.supertypes(of: try UniformType(valid: identifier)).map(\.type.identifier)
            #expect(Set(found + [identifier]) == above(identifier))
        }
    }

    private func expect(
        _ match: SystemTable.Match?, _ field: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let yields = field.hasPrefix("?")
        let identifier = yields ? String(field.dropFirst()) : field
        #expect(match?.type.identifier == (field.isEmpty ? nil : identifier), sourceLocation: sourceLocation)
        if let match { #expect(match.yields == yields, sourceLocation: sourceLocation) }
    }
}
