import HandlerCatalog
import Testing
import UniformTypes

@Suite("Eligibility")
struct EligibilityTests {
    private func reason(_ bundles: [HandlerBundle], _ text: String) throws -> String? {
        let snapshot = CatalogSnapshot(bundles: bundles, rule: .handlers)
        guard case .ineligible(let reason) = snapshot.eligibility(of: try type(text)) else { return nil }
        return reason
    }

    @Test("every type is eligible unless only handlers count")
    func everything() throws {
        let snapshot = CatalogSnapshot(bundles: [])
        #expect(snapshot.eligibility(of: .jpeg) == .eligible)
        #expect(snapshot.eligibility(of: try type("com.unknown.thing")) == .eligible)
        #expect(snapshot.eligibility(of: try type("public.executable")).isEligible)
    }

    @Test("where only handlers count, a type that one opens is eligible, and any other is not, with the reason")
    func handlersOnly() throws {
        let bundles = try [HandlerBundle.sample("a", ["public.image"])]
        #expect(try reason(bundles, "public.jpeg") == nil)
        #expect(try reason(bundles, "com.adobe.pdf") == "no handler here opens com.adobe.pdf; it opens public.image")
    }

    @Test("the reason names the opened types, but no more than five")
    func words() throws {
        #expect(try reason([], "public.jpeg") == "no handler here opens public.jpeg; none is installed")
        let two = try [
            HandlerBundle.sample("a", ["public.movie"]), HandlerBundle.sample("b", ["Public.audio", "public.movie"]),
        ]
        #expect(
            try reason(two, "public.jpeg")
                == "no handler here opens public.jpeg; it opens Public.audio and public.movie")
        let many = try [HandlerBundle.sample("a", (1...8).map { "org.example.t\($0)" })]
        #expect(
            try reason(many, "public.jpeg")
                == "no handler here opens public.jpeg; it opens org.example.t1, org.example.t2, "
                + "org.example.t3, org.example.t4, org.example.t5 and 3 more")
        let tags = DocumentType.Contents.tags(extensions: ["waftx"], mimeTypes: [], isPackage: false)
        let legacy = try [HandlerBundle.sample("a", documentTypes: [DocumentType(contents: tags)])]
        #expect(try reason(legacy, "public.jpeg") == "no handler here opens public.jpeg; it opens .waftx files")
    }

    @Test("a handler that is disabled, of rank None or in a role that opens nothing makes no type eligible")
    func notCounted() throws {
        var choices = UserChoices()
        choices.disabled = [try identifier("a")]
        let bundles = try [
            HandlerBundle.sample("a", ["public.jpeg"]), HandlerBundle.sample("b", ["public.jpeg"], rank: .none),
            HandlerBundle.sample("c", ["public.jpeg"], role: .none),
        ]
        let snapshot = CatalogSnapshot(bundles: bundles, choices: choices, rule: .handlers)
        #expect(snapshot.eligibility(of: .jpeg) == .ineligible("no handler here opens public.jpeg; none is installed"))
    }
}
