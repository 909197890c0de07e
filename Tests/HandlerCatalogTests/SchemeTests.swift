import HandlerCatalog
import Testing

@Suite("URL schemes")
struct SchemeTests {
    private func names(_ snapshot: CatalogSnapshot, _ url: String) throws -> [String]? {
        guard case .handlers(let claims) = snapshot.schemeHandlers(for: try URLParts(url)) else { return nil }
        return claims.map(\.bundle.name)
    }

    @Test("a scheme is a letter, then letters, digits, +, - and .")
    func syntax() {
        for text in ["a", "X-Notes", "a+b-c.d", "z39.50s", String(repeating: "a", count: 64)] {
            #expect(URLScheme(text)?.text == text.lowercased())
        }
        for text in [
            "", "1a", "+a", "-a", ".a", "a:", "a b", "ü", "aü", "a_b", "a/b", String(repeating: "a", count: 65),
        ] {
            #expect(URLScheme(text) == nil, "\(text)")
        }
    }

    @Test(
        "the scheme of a built-in handler cannot be taken over",
        arguments: ["http", "https", "mailto", "tel", "sms", "file", "HTTP"])
    func builtIn(scheme: String) throws {
        let bundle = try HandlerBundle.sample("thief", schemes: [scheme])
        var choices = UserChoices()
        if let scheme = URLScheme(scheme) { choices.schemeDefaults[scheme] = bundle.identifier }
        let snapshot = CatalogSnapshot(bundles: [bundle], choices: choices)
        let scheme = try #require(URLScheme(scheme))
        #expect(snapshot.schemeHandlers(for: try URLParts("\(scheme):x")) == .builtIn(scheme))
    }

    @Test("the user's default goes first, then the role, then the one installed first, then the identifier")
    func order() throws {
        let bundles = try [
            HandlerBundle.sample("viewer", role: .viewer, installed: 1, schemes: ["x-n"]),
            HandlerBundle.sample("editor", role: .editor, installed: 4, schemes: ["X-N", "x-m"]),
            HandlerBundle.sample("none", role: .none, schemes: ["x-n"]),
            HandlerBundle.sample("b", role: .viewer, installed: 2, schemes: ["x-n"]),
            HandlerBundle.sample("a", role: .viewer, installed: 2, schemes: ["x-n"]),
            HandlerBundle.sample("off", schemes: ["x-n"]),
        ]
        var choices = UserChoices(disabled: [try identifier("off")])
        #expect(
            try names(CatalogSnapshot(bundles: bundles, choices: choices), "x-N:1") == ["editor", "viewer", "a", "b"])
        let scheme = try #require(URLScheme("x-n"))
        choices.schemeDefaults[scheme] = try identifier("b")
        let snapshot = CatalogSnapshot(bundles: bundles, choices: choices)
        #expect(try names(snapshot, "x-n:1") == ["b", "editor", "viewer", "a"])
        #expect(try names(snapshot, "x-m:1") == ["editor"])
        #expect(try names(snapshot, "x-nobody:1") == [])
        #expect(snapshot.openedSchemes.map(\.text) == ["x-m", "x-n"])
    }
}
