import Testing

@testable import WebDialect

@Suite("The name of a guest's browser")
struct BrowserNameTests {
    @Test(
        "A browser is called by its own name and its system, not by its ancestors",
        arguments: [
            (
                "Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0", "Firefox on Android"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 "
                    + "Mobile/15E148 Safari/604.1", "Safari on iPhone"
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
                "Chrome on Linux"
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 "
                    + "Safari/537.36 Edg/140.0.0.0", "Edge on Windows"
            ),
            ("curl/8.14.1", "curl/8.14.1"),
        ])
    func name(_ agent: String, _ name: String) {
        #expect(BrowserName.of(agent) == name)
    }

    @Test("A program that says nothing, or too much, has a short name without control characters")
    func hostile() {
        #expect(BrowserName.of("") == "an unknown program")
        let name = BrowserName.of("evil\u{1B}[2J" + String(repeating: "x", count: 10_000))
        #expect(name.count <= BrowserName.limit + 1)
        #expect(!name.contains("\u{1B}"))
    }
}
