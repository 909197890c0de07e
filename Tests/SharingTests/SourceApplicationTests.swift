import Sharing
import Testing

@Suite("The name of a source application")
struct SourceApplicationTests {
    @Test("is one of letters, digits, hyphens and dots", arguments: ["org.waft.send", "a", "com.Apple-1.finder"])
    func good(_ name: String) {
        #expect(SourceApplication.valid(name) == name)
    }

    @Test(
        "is nothing else",
        arguments: ["", "a b", "é", "a\n", "a/b", "\u{1B}[2J", String(repeating: "a", count: 256), "waft\0"])
    func bad(_ name: String) {
        #expect(SourceApplication.valid(name) == nil)
        #expect(SourceApplication.named(in: [SourceApplication.key: name]) == nil)
    }
}
