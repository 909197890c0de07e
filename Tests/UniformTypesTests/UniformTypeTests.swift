import Foundation
import Testing
import UniformTypes

@Suite("Uniform type identifiers")
struct UniformTypeTests {
    @Test(
        "a well-formed identifier is taken as it was written",
        arguments: [
            "public.jpeg", "com.apple.iWork.Keynote.sffkey", "org.7-zip.7-zip-archive", "public.3d-content", "x", "A-b",
            "dyn.ah62d4rv4ge80y3xmq2", String(repeating: "a", count: 255),
        ]
    )
    func wellFormed(identifier: String) {
        #expect(UniformType(identifier)?.identifier == identifier)
        #expect(UniformType(identifier)?.description == identifier)
    }

    @Test(
        "anything else is not an identifier",
        arguments: [
            "", ".", "..", ".public", "public.", "public..jpeg", "public.jpeg.", "public jpeg", " public.jpeg",
            "public.jpeg\n", "public.jpeg\0", "\0", "public.jpég", "públic.jpeg", "public/jpeg", "public.my_type", "*",
            "public.\u{202E}gepj", "public.\u{FF4A}peg", String(repeating: "a", count: 256),
            String(repeating: "a.", count: 1 << 20), String(repeating: ".", count: 255),
        ]
    )
    func malformed(identifier: String) {
        #expect(UniformType(identifier) == nil)
    }

    @Test("identifiers that differ in case are equal and keep their case")
    func caseInsensitive() throws {
        let lower = try UniformType(valid: "com.apple.iwork.keynote.sffkey")
        let declared = try UniformType(valid: "com.apple.iWork.Keynote.sffkey")
        #expect(lower == declared)
        #expect(lower.hashValue == declared.hashValue)
        #expect(Set([lower, declared]).count == 1)
        #expect(declared.identifier == "com.apple.iWork.Keynote.sffkey")
        #expect(lower.identifier == "com.apple.iwork.keynote.sffkey")
    }

    @Test("identifiers that differ in a character or in length are not equal")
    func unequal() {
        let type = UniformType(literal: "public.jpeg")
        for other in ["public.jpeh", "public.jpe", "public.jpeg2", "public-jpeg", "qublic.jpeg"] {
            #expect(UniformType(other) != type)
        }
        // These differ in the bit that makes letters lower-case, and in nothing else.
        #expect(UniformType("a-") != UniformType("a\r"))
        #expect(UniformType("public.p0") != UniformType("public.pP"))
    }

    @Test("prefixes are seen in any case, and only whole")
    func prefixes() {
        #expect(UniformType("Public.JPEG")?.isPublic == true)
        #expect(UniformType("publicity.jpeg")?.isPublic == false)
        #expect(UniformType("public")?.isPublic == false)
        #expect(UniformType("DYN.a")?.isDynamic == true)
        #expect(UniformType("dynamo.a")?.isDynamic == false)
        #expect(UniformType("dyn")?.isDynamic == false)
    }

    @Test("JSON carries an identifier as one string")
    func codable() throws {
        let types = [UniformType.jpeg, UniformType(literal: "Com.Example.X")]
        let encoded = try JSONEncoder().encode(types)
        #expect(String(decoding: encoded, as: UTF8.self) == #"["public.jpeg","Com.Example.X"]"#)
        #expect(
            try JSONDecoder().decode([UniformType].self, from: encoded).map(\.identifier) == types.map(\.identifier))
    }

    @Test(
        "JSON that holds no identifier is refused without being quoted",
        arguments: [#"[""]"#, #"["public..x"]"#, #"["a\u0000b"]"#, "[\"\(String(repeating: "a", count: 100_000))\"]"]
    )
    func hostileJSON(json: String) {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([UniformType].self, from: Data(json.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("not reported as corrupted data")
            return
        }
        #expect(context.debugDescription.hasPrefix("could not read a uniform type identifier"))
        #expect(context.debugDescription.utf8.count < 300)
    }
}
