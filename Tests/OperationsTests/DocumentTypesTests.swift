import Foundation
import Lines
import TestSupport
import Testing

@testable import Operations

@Suite("The types of files")
struct DocumentTypesTests {
    private let folder = TemporaryFolder()
    private let types: DocumentTypes

    init() throws { types = try Kitchen(jobs: 0).waft.types() }

    private func file(_ name: String, _ text: String) throws -> String {
        try text.write(toFile: folder / name, atomically: false, encoding: .utf8)
        return folder / name
    }

    @Test("a file has the type of its name, the result of a look into it, and an icon")
    func file() throws {
        let line = try types.type(of: file("note.txt", "hello"))
        #expect(line.type == "public.plain-text" && line.conformsTo.contains("public.text"))
        #expect(line.content == "consistent" && line.contentWords?.hasPrefix("contents match: ") == true)
        #expect(line.icon == "text-plain" && line.genericIcon == "text-x-generic")
        #expect(!line.json.contains("contentWords"))
    }

    @Test("where the name says something else, the content decides the icon")
    func liar() throws {
        let line = try types.type(of: file("photo.jpg", "%PDF-1.4\n"))
        #expect(line.type == "public.jpeg" && line.content != "consistent" && line.contentType == "com.adobe.pdf")
        #expect(line.icon == "application-pdf")
    }

    @Test("of a folder only its own type is told")
    func folderType() throws {
        let line = try types.type(of: folder.path)
        #expect(line.type == "public.folder" && line.content == nil && line.contentWords == nil)
    }

    @Test("what could not be sent is refused")
    func refusals() throws {
        for path in [folder / "missing", "", "/dev/null"] {
            let error = #expect(throws: WaftError.self) { try types.type(of: path) }
            #expect(error?.code == .inputMissing, "\(path)")
        }
    }
}
