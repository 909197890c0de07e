import Testing
import UniformTypes

@Suite("Dynamic identifiers")
struct DynamicTypeTests {
    private static func tag(of vector: TestData.DynamicVector) -> TypeTag? {
        vector.ext.map { TypeTag(.filenameExtension, $0) }
            ?? vector.mime.map { TypeTag(.mimeType, $0) }
            ?? vector.ostype.map { TypeTag(.osType, $0) }
            ?? vector.nspboard.map { TypeTag(.pasteboardType, $0) }
    }

    @Test("there are 120 vectors")
    func vectorCount() throws {
        #expect(try TestData.dynamicVectors().count == 120)
    }

    @Test("every vector is encoded as observed", arguments: try TestData.dynamicVectors())
    func encode(vector: TestData.DynamicVector) throws {
        let tag = try #require(Self.tag(of: vector))
        let supertypes = try vector.conformingTo.map { [try UniformType(valid: $0)] } ?? []
        #expect(DynamicType(supertypes: supertypes, tags: [tag])?.type.identifier == vector.uti)
    }

    @Test("every vector is decoded to its tags and supertypes", arguments: try TestData.dynamicVectors())
    func decode(vector: TestData.DynamicVector) throws {
        let decoded = try #require(DynamicType(UniformType(valid: vector.uti)))
        #expect(decoded.supertypes.map(\.identifier) == (vector.conformingTo.map { [$0] } ?? []))
        #expect(decoded.tags == [try #require(Self.tag(of: vector))])
        #expect(decoded.type.identifier == vector.uti)
    }

    @Test("the same tag under another supertype is another type")
    func supertypeMatters() throws {
        let tag = TypeTag(.filenameExtension, "rs")
        let none = try #require(DynamicType(tags: [tag]))
        let text = try #require(DynamicType(supertypes: [.plainText], tags: [tag]))
        #expect(none.type.identifier == "dyn.age81e62")
        #expect(text.type.identifier == "dyn.ah62d4sb4ge81e62")
        #expect(none != text)
    }

    @Test("extensions and MIME types are lower-cased, OSTypes and pasteboard types are not")
    func tagCase() {
        #expect(DynamicType(tags: [TypeTag(.filenameExtension, "Rproj")])?.tags.first?.value == "rproj")
        #expect(TypeTag(.filenameExtension, "RS") == TypeTag(.filenameExtension, "rs"))
        #expect(TypeTag(.mimeType, "Text/X") == TypeTag(.mimeType, "text/x"))
        #expect(TypeTag(.osType, "TEXT") != TypeTag(.osType, "text"))
        #expect(TypeTag(.pasteboardType, "A") != TypeTag(.pasteboardType, "a"))
    }

    @Test(
        "an encoded type is decoded unchanged",
        arguments: [
            ([], [TypeTag(.filenameExtension, "a")]),
            ([.data, .image, UniformType(literal: "com.example.Thing")], [TypeTag(.filenameExtension, "tar.gz")]),
            ([.package], [TypeTag(.filenameExtension, "x:y=z,\\w\\\\"), TypeTag(.mimeType, "a/b; c=d")]),
            ([.data], [TypeTag(.osType, "ab"), TypeTag(.urlScheme, "X-Y"), TypeTag(.pasteboardType, "p\0q\0")]),
            ([.data], [TypeTag(.filenameExtension, "übung"), TypeTag(.filenameExtension, "🎈")]),
            (
                [.data],
                [TypeTag(.filenameExtension, "6"), TypeTag(TagClass(UniformType(literal: "com.example.tag")), "A")]
            ),
        ] as [([UniformType], [TypeTag])]
    )
    func roundTrip(supertypes: [UniformType], tags: [TypeTag]) throws {
        let made = try #require(DynamicType(supertypes: supertypes, tags: tags))
        #expect(made.type.isDynamic)
        let read = try #require(DynamicType(made.type))
        #expect(read.supertypes == supertypes)
        #expect(read.tags == tags)
    }

    @Test("an identifier in another case is the same type")
    func identifierCase() throws {
        let decoded = try #require(DynamicType(UniformType(literal: "DYN.AH62D4RV4GE80Y3XMQ2")))
        #expect(decoded.tags == [TypeTag(.filenameExtension, "jfif")])
        #expect(decoded.type == UniformType(literal: "dyn.ah62d4rv4ge80y3xmq2"))
    }

    @Test("every tag length up to the limit reads back, and a longer one has no identifier")
    func lengths() throws {
        for count in 1...149 {
            let tag = TypeTag(.filenameExtension, String(repeating: "x", count: count))
            let made = try #require(DynamicType(supertypes: [.data], tags: [tag]))
            #expect(made.type.identifier.utf8.count <= UniformType.maximumByteCount)
            #expect(DynamicType(made.type)?.tags == [tag])
        }
        for count in [150, 1000, 1 << 20] {
            let tag = TypeTag(.filenameExtension, String(repeating: "x", count: count))
            #expect(DynamicType(supertypes: [.data], tags: [tag]) == nil)
        }
    }

    @Test("a type that no identifier can express has none")
    func unsayable() {
        #expect(DynamicType(tags: []) == nil)
        #expect(DynamicType(supertypes: [.data], tags: []) == nil)
        #expect(DynamicType(tags: [TypeTag(.filenameExtension, "")]) == nil)
        #expect(DynamicType(tags: [TypeTag(.osType, "fiver")]) == nil)
        // These would read as public.data and public.filename-extension.
        #expect(DynamicType(supertypes: [UniformType(literal: "6")], tags: [TypeTag(.osType, "x")]) == nil)
        #expect(DynamicType(tags: [TypeTag(TagClass(UniformType(literal: "1")), "x")]) == nil)
        #expect(
            DynamicType(
                supertypes: Array(repeating: UniformType(literal: "public.item"), count: 100_000),
                tags: [TypeTag(.filenameExtension, "x")]
            ) == nil
        )
    }

    @Test(
        "a damaged dynamic identifier says nothing",
        arguments: [
            "dyn.a", "dyn.b", "dyn.garbage", "dyn.age81q7p", "dyn.age81q7pfa", "dyn.age81q7pfaaaaaaaa", "dyn.age81asb",
            // Characters outside the alphabet, another prefix, no prefix.
            "dyn.age81q7pi", "dyn.age8-q7pf", "dyn.age8.q7pf", "dyn.bge81q7pf", "dyn.ge81q7pf", "public.jpeg",
            "dyn." + String(repeating: "a", count: 251), "dyn.a" + String(repeating: "9", count: 250),
        ]
    )
    func damaged(identifier: String) throws {
        let type = try UniformType(valid: identifier)
        #expect(DynamicType(type) == nil)
        #expect(TypeRegistry.system.supertypes(of: type).isEmpty || type == .jpeg)
        #expect(TypeRegistry.system.resolved(type) == type)
    }

    @Test(
        "a payload that is not the one way to say something says nothing",
        arguments: [
            "1=", "=x", "1", "1=x:", ":1=x", "1=x=y", "1=x::1=y", "?0=6", "?0=6:", "?0=:1=x", "?0=6,:1=x", "1=x:?0=6",
            // Not lower-cased, not abbreviated, abbreviated otherwise, escaped without need, not escaped at all.
            "1=X", "public.filename-extension=x", "?0=public.data:1=x", "?0=a:1=x", "01=x", "+1=x", "1=\\x", "1=x,y",
            "1=x\\", "2=abc", "1=x\0", "?0=my_type:1=x",
        ]
    )
    func notCanonical(payload: String) throws {
        let type = try UniformType(valid: Self.identifier(payload: Array(payload.utf8)))
        #expect(DynamicType(type) == nil)
    }

    @Test("bytes that are not UTF-8 say nothing")
    func notText() throws {
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] as [[UInt8]] {
            let type = try UniformType(valid: Self.identifier(payload: Array("1=".utf8) + bytes))
            #expect(DynamicType(type) == nil)
        }
    }

    @Test("no random identifier crashes the program, and a decoded one is encoded again unchanged")
    func random() throws {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("abcdefghkmnpqrstuvwxyz0123456789")
        // The second starts with `?0=6:1=`, so that what follows has a chance to be read.
        for prefix in ["dyn.a", "dyn.ah62d4rv4ge8"] {
            for _ in 0..<2000 {
                let tail = (0..<Int.random(in: 0...239, using: &generator)).map { _ in
                    alphabet[Int.random(in: 0..<32, using: &generator)]
                }
                let type = try UniformType(valid: prefix + String(tail))
                if let read = DynamicType(type) {
                    #expect(DynamicType(supertypes: read.supertypes, tags: read.tags)?.type == type)
                }
            }
        }
    }

    @Test("a dynamic type conforms to the types in its identifier and to theirs, and to nothing else")
    func conformance() throws {
        let registry = TypeRegistry.system
        let png = try #require(DynamicType(supertypes: [.image], tags: [TypeTag(.filenameExtension, "zzz")])).type
        #expect(registry.conforms(png, to: png))
        #expect(registry.conforms(png, to: .image))
        #expect(registry.conforms(png, to: .content))
        #expect(!registry.conforms(png, to: .plainText))
        #expect(registry.distance(from: png, to: .image) == 1)
        let bare = UniformType(literal: "dyn.age81q7pf")
        #expect(registry.supertypes(of: bare).isEmpty)
    }

    @Test("a dynamic type that conforms to a dynamic type is followed to its end")
    func nested() throws {
        var type = UniformType.data
        for _ in 0..<8 {
            guard let next = DynamicType(supertypes: [type], tags: [TypeTag(.filenameExtension, "q")]) else { break }
            type = next.type
            #expect(TypeRegistry.system.conforms(type, to: .item))
        }
        #expect(type.isDynamic)
    }

    /// Any bytes in the encoding of dynamic identifiers, written apart from the code under test.
    private static func identifier(payload: [UInt8]) -> String {
        let alphabet = Array("abcdefghkmnpqrstuvwxyz0123456789")
        var bits = payload.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        while bits.count % 5 != 0 { bits.append(0) }
        let characters = stride(from: 0, to: bits.count, by: 5).map { start in
            alphabet[bits[start..<start + 5].reduce(0) { $0 << 1 | Int($1) }]
        }
        return "dyn.a" + String(characters)
    }
}
