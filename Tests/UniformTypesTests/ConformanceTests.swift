import Testing
import UniformTypes

@Suite("Conformance")
struct ConformanceTests {
    let registry = TypeRegistry.system

    @Test("a type conforms to itself, in any case, in no steps")
    func reflexive() {
        #expect(registry.conforms(.jpeg, to: .jpeg))
        #expect(registry.conforms(.jpeg, to: UniformType(literal: "PUBLIC.JPEG")))
        #expect(registry.distance(from: .jpeg, to: .jpeg) == 0)
    }

    @Test("conformance goes through parents, and never back")
    func transitive() {
        #expect(registry.conforms(.jpeg, to: .image))
        #expect(registry.conforms(.jpeg, to: .data))
        #expect(registry.conforms(.jpeg, to: .content))
        #expect(registry.conforms(.jpeg, to: .item))
        #expect(!registry.conforms(.image, to: .jpeg))
        #expect(!registry.conforms(.jpeg, to: .png))
    }

    @Test("any case is understood on both sides")
    func caseInsensitive() {
        #expect(registry.conforms(UniformType(literal: "Public.Jpeg"), to: UniformType(literal: "public.IMAGE")))
        let sff = UniformType(literal: "com.apple.iwork.pages.SFFpages")
        #expect(registry.conforms(sff, to: .data))
    }

    @Test("a type with two parents conforms to both and to their supertypes")
    func multipleParents() {
        #expect(registry.conforms(.svg, to: .image))
        #expect(registry.conforms(.svg, to: .xml))
        #expect(registry.conforms(.svg, to: .text))
        #expect(registry.conforms(.applicationBundle, to: .package))
        #expect(registry.conforms(.applicationBundle, to: .executable))
    }

    @Test("the distance is the least number of steps")
    func distance() {
        #expect(registry.distance(from: .jpeg, to: .image) == 1)
        #expect(registry.distance(from: .image, to: .data) == 1)
        #expect(registry.distance(from: .image, to: .content) == 1)
        #expect(registry.distance(from: .jpeg, to: .item) == 3)
        #expect(registry.distance(from: .image, to: .jpeg) == nil)
        // One step by way of public.unix-executable's second parent, not three by way of its first.
        #expect(registry.distance(from: .unixExecutable, to: .executable) == 1)
    }

    @Test("supertypes come nearest first, each once, without the type itself")
    func supertypes() {
        for type in registry.types {
            let supertypes = registry.supertypes(of: type)
            #expect(supertypes.map(\.distance) == supertypes.map(\.distance).sorted())
            #expect(Set(supertypes.map(\.type)).count == supertypes.count)
            #expect(!supertypes.contains { $0.type == type })
            for (supertype, distance) in supertypes {
                #expect(registry.distance(from: type, to: supertype) == distance)
                #expect(registry.conforms(type, to: supertype))
            }
            let direct = supertypes.filter { $0.distance == 1 }.map(\.type)
            #expect(direct == registry.parents(of: type))
        }
    }

    @Test("executable conforms to nothing")
    func executable() {
        #expect(registry.supertypes(of: .executable).isEmpty)
        #expect(!registry.conforms(.executable, to: .item))
    }

    @Test("declared parents count where Apple's headers say otherwise")
    func headerTraps() {
        let audio = UniformType(literal: "public.mpeg-4-audio")
        #expect(registry.parents(of: audio) == [.audio])
        #expect(!registry.conforms(audio, to: .mpeg4Movie))
        #expect(registry.parents(of: UniformType(literal: "public.font")) == [.data])
        #expect(registry.parents(of: UniformType(literal: "public.log")) == [.item])
    }

    @Test(
        "documents that are zip archives inside are not zip archives",
        arguments: ["docx", "xlsx", "pptx", "epub", "odt", "pkpass", "pages", "ipa", "usdz"]
    )
    func zipTraps(fileExtension: String) throws {
        let type = try #require(registry.type(forExtension: fileExtension, kind: .regularFile))
        #expect(!registry.conforms(type, to: .zip), "\(type)")
    }

    @Test("JSON, HTML, CSS and XML are text but not plain text", arguments: ["json", "html", "css", "xml"])
    func plainTextTraps(fileExtension: String) throws {
        let type = try #require(registry.type(forExtension: fileExtension, kind: .regularFile))
        #expect(registry.conforms(type, to: .text), "\(type)")
        #expect(!registry.conforms(type, to: .plainText), "\(type)")
    }

    @Test("JavaScript, jar and ipa are executable", arguments: ["js", "jar", "ipa"])
    func executableTraps(fileExtension: String) throws {
        let type = try #require(registry.type(forExtension: fileExtension, kind: .regularFile))
        #expect(registry.conforms(type, to: .executable), "\(type)")
    }

    @Test("an ELF file is data and executable, and is known by content alone")
    func elf() {
        #expect(registry.parents(of: .elfBinary) == [.data, .executable])
        #expect(registry.preferredExtension(for: .elfBinary) == nil)
        #expect(registry.preferredMIMEType(for: .elfBinary) == nil)
    }

    @Test("a type without a description has that of the first type it conforms to")
    func inheritedDescription() throws {
        let (registry, refusals) = registry.adding(
            exported: [
                TypeDeclaration(
                    UniformType(literal: "com.example.a"), parents: [UniformType(literal: "com.example.b"), .jpeg]),
                TypeDeclaration(UniformType(literal: "com.example.b"), parents: [.png]),
                TypeDeclaration(UniformType(literal: "com.example.c"), parents: [.png], description: "own"),
            ],
            imported: []
        )
        #expect(refusals.isEmpty)
        let png = try #require(registry.declaration(of: .png)?.description)
        #expect(registry.description(of: UniformType(literal: "com.example.a")) == png)
        #expect(registry.description(of: UniformType(literal: "com.example.b")) == png)
        #expect(registry.description(of: UniformType(literal: "com.example.c")) == "own")
    }
}
