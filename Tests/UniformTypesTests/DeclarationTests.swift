import Testing
import UniformTypes

@Suite("Declarations by bundles")
struct DeclarationTests {
    let system = TypeRegistry.system
    let a = UniformType(literal: "com.example.a")
    let b = UniformType(literal: "com.example.b")
    let c = UniformType(literal: "com.example.c")

    @Test("an exported type is declared, with its supertypes and its tags")
    func exported() throws {
        let (registry, refusals) = system.adding(
            exported: [
                TypeDeclaration(
                    a, parents: [.image], extensions: ["EXA", "exb"], mimeTypes: ["image/X-exa"], description: "A")
            ],
            imported: []
        )
        #expect(refusals.isEmpty)
        #expect(registry.isDeclared(a))
        #expect(registry.conforms(a, to: .data))
        #expect(registry.distance(from: a, to: .image) == 1)
        #expect(registry.type(forFileName: "x.exa", kind: .regularFile) == a)
        #expect(registry.type(forFileName: "x.exb", kind: .regularFile) == a)
        #expect(registry.type(forMIMEType: "image/x-EXA; q=1") == a)
        #expect(registry.preferredExtension(for: a) == "exa")
        #expect(registry.preferredMIMEType(for: a) == "image/X-exa")
        #expect(registry.description(of: a) == "A")
        #expect(registry.types.last == a)
        #expect(registry.types.count == system.types.count + 1)
    }

    @Test("adding leaves the registry that was added to as it was")
    func value() {
        _ = system.adding(exported: [TypeDeclaration(a, extensions: ["exa"])], imported: [])
        #expect(!system.isDeclared(a))
        #expect(system.type(forExtension: "exa", kind: .regularFile) == nil)
    }

    @Test("an exported declaration goes before an imported one, as a whole")
    func exportedBeforeImported() {
        let (registry, refusals) = system.adding(
            exported: [TypeDeclaration(a, parents: [.audio], extensions: ["exported"])],
            imported: [TypeDeclaration(a, parents: [.image], extensions: ["imported"], description: "imported")]
        )
        #expect(refusals.isEmpty)
        #expect(registry.parents(of: a) == [.audio])
        #expect(registry.type(forExtension: "exported", kind: .regularFile) == a)
        #expect(registry.type(forExtension: "imported", kind: .regularFile) == nil)
        #expect(registry.declaration(of: a)?.description == nil)
    }

    @Test("an export that comes later takes the place of an import")
    func exportTakesPlace() {
        let (first, _) = system.adding(exported: [], imported: [TypeDeclaration(a, parents: [.image])])
        #expect(first.parents(of: a) == [.image])
        let (second, refusals) = first.adding(exported: [TypeDeclaration(a, parents: [.audio])], imported: [])
        #expect(refusals.isEmpty)
        #expect(second.parents(of: a) == [.audio])
    }

    @Test("the older of two exports stands, and the younger is refused in any case")
    func twoExports() {
        let (registry, refusals) = system.adding(
            exported: [
                TypeDeclaration(a, parents: [.audio], extensions: ["one"]),
                TypeDeclaration(UniformType(literal: "Com.Example.A"), parents: [.image], extensions: ["two"]),
            ],
            imported: []
        )
        #expect(registry.parents(of: a) == [.audio])
        #expect(registry.type(forExtension: "two", kind: .regularFile) == nil)
        #expect(refusals.map(\.reason) == [.exportedBefore])
        #expect(refusals.map(\.index) == [1])
        #expect(refusals.first?.isPartial == false)
    }

    @Test("the older of two imports stands, without a word")
    func twoImports() {
        let (registry, refusals) = system.adding(
            exported: [],
            imported: [TypeDeclaration(a, parents: [.audio]), TypeDeclaration(a, parents: [.image])]
        )
        #expect(registry.parents(of: a) == [.audio])
        #expect(refusals.isEmpty)
    }

    @Test(
        "reserved and dynamic identifiers cannot be exported",
        arguments: [
            "public.toml", "PUBLIC.toml", "com.apple.thing", "Com.Apple.thing", "dyn.age81q7pf", "DYN.x", "public.jpeg",
        ]
    )
    func reservedExports(identifier: String) throws {
        let type = try UniformType(valid: identifier)
        let (registry, refusals) = system.adding(exported: [TypeDeclaration(type, extensions: ["toml"])], imported: [])
        #expect(refusals.map(\.reason) == [.reservedIdentifier])
        #expect(registry.types == system.types)
    }

    @Test(
        "a public type that the system lacks can be imported", arguments: ["public.toml-made-up", "com.apple.made-up"])
    func reservedImports(identifier: String) throws {
        let type = try UniformType(valid: identifier)
        let (registry, refusals) = system.adding(
            exported: [],
            imported: [TypeDeclaration(type, parents: [.text], extensions: ["madeup"])]
        )
        #expect(refusals.isEmpty)
        #expect(registry.type(forExtension: "madeup", kind: .regularFile) == type)
    }

    @Test("a dynamic type cannot be imported either")
    func dynamicImport() {
        let type = UniformType(literal: "dyn.age81q7pf")
        let (registry, refusals) = system.adding(exported: [], imported: [TypeDeclaration(type, parents: [.image])])
        #expect(refusals.map(\.reason) == [.reservedIdentifier])
        #expect(!registry.conforms(type, to: .image))
    }

    @Test("no handler changes a declaration of the system")
    func systemStands() throws {
        let hostile = TypeDeclaration(
            .pdf, parents: [.plainText], extensions: ["png", "evil"], mimeTypes: ["image/png"])
        let (registry, refusals) = system.adding(exported: [hostile], imported: [hostile])
        #expect(refusals.map(\.reason) == [.declaredBySystem])
        #expect(refusals.map(\.origin) == [.exported])
        #expect(registry.declaration(of: .pdf) == system.declaration(of: .pdf))
        #expect(!registry.conforms(.pdf, to: .plainText))
        #expect(registry.type(forExtension: "evil", kind: .regularFile) == nil)
    }

    @Test("no handler takes a tag from the system")
    func systemTagsStand() {
        let (registry, refusals) = system.adding(
            exported: [
                TypeDeclaration(a, parents: [.data], extensions: ["pdf", "new"], mimeTypes: ["application/pdf"])
            ],
            imported: [TypeDeclaration(UniformType(literal: "public.made-up"), parents: [.data], extensions: ["pdf"])]
        )
        #expect(refusals.isEmpty)
        #expect(registry.type(forExtension: "pdf", kind: .regularFile) == .pdf)
        #expect(registry.type(forMIMEType: "application/pdf") == .pdf)
        #expect(registry.type(forExtension: "new", kind: .regularFile) == a)
    }

    @Test("a bundle's own type goes before Waft's stand-in for the same tag")
    func standInsYield() {
        #expect(system.type(forExtension: "glb", kind: .regularFile) == UniformType(literal: "org.waft.glb"))
        let (registry, _) = system.adding(
            exported: [],
            imported: [TypeDeclaration(a, parents: [.data], extensions: ["glb"], mimeTypes: ["model/gltf-binary"])]
        )
        #expect(registry.type(forExtension: "glb", kind: .regularFile) == a)
        #expect(registry.type(forMIMEType: "model/gltf-binary") == a)
    }

    @Test("a tag goes to a public type, then to an exported one, then to the oldest")
    func tagOrder() {
        let open = UniformType(literal: "public.made-up")
        let tags = ["one", "two", "three"]
        let (registry, refusals) = system.adding(
            exported: [
                TypeDeclaration(a, parents: [.data], extensions: tags),
                TypeDeclaration(b, parents: [.data], extensions: tags),
            ],
            imported: [
                TypeDeclaration(c, parents: [.data], extensions: tags + ["four"]),
                TypeDeclaration(open, parents: [.data], extensions: ["one", "four"]),
            ]
        )
        #expect(refusals.isEmpty)
        #expect(registry.type(forExtension: "one", kind: .regularFile) == open)
        #expect(registry.type(forExtension: "two", kind: .regularFile) == a)
        #expect(registry.type(forExtension: "four", kind: .regularFile) == open)
        #expect(registry.types.suffix(4) == [a, b, c, open])
    }

    @Test("a declared package is found for directories, and not for files")
    func packages() {
        let (registry, _) = system.adding(
            exported: [
                TypeDeclaration(a, parents: [.package], extensions: ["exa"]),
                TypeDeclaration(b, parents: [.data], extensions: ["exa"]),
            ],
            imported: []
        )
        #expect(registry.type(forFileName: "x.exa", kind: .directory) == a)
        #expect(registry.type(forFileName: "x.exa", kind: .regularFile) == b)
    }

    @Test("an unknown parent is left out with a message, and the declaration holds")
    func unknownParent() {
        let missing = UniformType(literal: "com.example.missing")
        let (registry, refusals) = system.adding(
            exported: [TypeDeclaration(a, parents: [missing, .image])],
            imported: []
        )
        #expect(registry.parents(of: a) == [.image])
        #expect(refusals.map(\.reason) == [.unknownParent(missing)])
        #expect(refusals.first?.isPartial == true)
        #expect(refusals.first?.description.contains("nothing declares com.example.missing") == true)
    }

    @Test("a dynamic parent is an unknown one")
    func dynamicParent() {
        let dynamic = UniformType(literal: "dyn.ah62d4rv4ge80y3xmq2")
        let (registry, refusals) = system.adding(exported: [TypeDeclaration(a, parents: [dynamic])], imported: [])
        #expect(registry.parents(of: a).isEmpty)
        #expect(refusals.map(\.reason) == [.unknownParent(dynamic)])
    }

    @Test("a parent may be declared later, by another bundle, and become known")
    func laterParent() {
        let (together, refusals) = system.adding(
            exported: [TypeDeclaration(a, parents: [b])],
            imported: [TypeDeclaration(b, parents: [.image])]
        )
        #expect(refusals.isEmpty)
        #expect(together.distance(from: a, to: .image) == 2)

        let (first, firstRefusals) = system.adding(exported: [TypeDeclaration(a, parents: [b])], imported: [])
        #expect(firstRefusals.map(\.reason) == [.unknownParent(b)])
        let (second, secondRefusals) = first.adding(exported: [], imported: [TypeDeclaration(b, parents: [.image])])
        #expect(secondRefusals.isEmpty)
        #expect(second.conforms(a, to: .image))
    }

    @Test("a type that would conform to itself is refused")
    func selfCycle() {
        let (registry, refusals) = system.adding(
            exported: [TypeDeclaration(a, parents: [.image, UniformType(literal: "COM.example.A")])],
            imported: []
        )
        #expect(refusals.map(\.reason) == [.cycle])
        #expect(!registry.isDeclared(a))
    }

    @Test("the declaration that would close a cycle is refused, and the older ones stand")
    func cycle() {
        let (registry, refusals) = system.adding(
            exported: [
                TypeDeclaration(a, parents: [b, .data]), TypeDeclaration(b, parents: [c, .image]),
                TypeDeclaration(c, parents: [a, .audio]),
            ],
            imported: []
        )
        #expect(refusals.map(\.reason) == [.cycle, .unknownParent(c)])
        #expect(refusals.map(\.type) == [c, b])
        #expect(registry.conforms(a, to: .image))
        #expect(!registry.isDeclared(c))
    }

    @Test("a younger bundle cannot close a cycle through an older one, by export or import")
    func cycleAcrossBundles() {
        let (first, _) = system.adding(exported: [TypeDeclaration(a, parents: [b, .image])], imported: [])
        let (second, refusals) = first.adding(exported: [TypeDeclaration(b, parents: [a])], imported: [])
        #expect(refusals.map(\.reason) == [.cycle, .unknownParent(b)])
        #expect(second.conforms(a, to: .image))
        let (third, more) = first.adding(exported: [], imported: [TypeDeclaration(b, parents: [a])])
        #expect(more.map(\.reason) == [.cycle, .unknownParent(b)])
        #expect(third.conforms(a, to: .image))
    }

    @Test("malformed tags are left out with a message, and the declaration holds")
    func malformedTags() {
        let (registry, refusals) = system.adding(
            exported: [
                TypeDeclaration(
                    a,
                    parents: [.data],
                    extensions: [".exa", "good", "", "a/b", "\0"],
                    mimeTypes: ["nonsense", "x/good"]
                )
            ],
            imported: []
        )
        #expect(registry.declaration(of: a)?.extensions == ["good"])
        #expect(registry.declaration(of: a)?.mimeTypes == ["x/good"])
        #expect(
            refusals.map(\.reason) == [
                .malformedExtension(at: 0), .malformedExtension(at: 2), .malformedExtension(at: 3),
                .malformedExtension(at: 4), .malformedMIMEType(at: 0),
            ]
        )
        #expect(refusals.allSatisfy { $0.isPartial })
    }

    @Test("a declaration beyond the limits is refused, and a long description left out")
    func limits() {
        let (registry, refusals) = system.adding(
            exported: [
                TypeDeclaration(a, parents: Array(repeating: .data, count: 17)),
                TypeDeclaration(b, extensions: (0..<257).map { "e\($0)" }),
                TypeDeclaration(c, parents: [.image], description: String(repeating: "x", count: 1025)),
            ],
            imported: []
        )
        #expect(refusals.map(\.reason) == [.tooLarge, .tooLarge])
        #expect(registry.declaration(of: c) == TypeDeclaration(c, parents: [.image]))
    }

    @Test("more declarations than the limit are refused, and a chain of all of them is followed to its end")
    func manyDeclarations() throws {
        let types = try (0..<1100).map { try UniformType(valid: "com.example.t\($0)") }
        let chain = types.indices.map { index in
            TypeDeclaration(types[index], parents: index == 0 ? [.image] : [types[index - 1]])
        }
        let (registry, refusals) = system.adding(exported: chain, imported: [])
        #expect(refusals.count == 76)
        #expect(refusals.allSatisfy { $0.reason == .tooManyDeclarations })
        #expect(registry.distance(from: types[1023], to: .image) == 1024)
        #expect(registry.conforms(types[1023], to: .item))
        #expect(registry.description(of: types[1023]) == system.description(of: .image))
    }

    @Test("every refusal is one line that names the type")
    func messages() {
        let (_, refusals) = system.adding(
            exported: [
                TypeDeclaration(.jpeg), TypeDeclaration(.pdf), TypeDeclaration(a), TypeDeclaration(a),
                TypeDeclaration(b, parents: [b]),
                TypeDeclaration(c, parents: [b], extensions: ["\n"], mimeTypes: ["\u{1B}"]),
                TypeDeclaration(UniformType(literal: "dyn.x")),
            ],
            imported: []
        )
        #expect(refusals.count == 8)
        for refusal in refusals {
            #expect(refusal.description.contains(refusal.type.identifier))
            #expect(refusal.description.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F })
        }
    }
}
