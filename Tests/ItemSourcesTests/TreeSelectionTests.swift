import Testing

@testable import ItemSources

@Suite("Patterns of excluded files")
struct TreeSelectionTests {
    private func excludes(_ pattern: String, _ path: String, isFolder: Bool = false) -> Bool {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return TreeSelection(excluded: [pattern]).excludes(name, path: path, isFolder: isFolder)
    }

    @Test("a pattern without a slash means the name of any entry")
    func names() {
        #expect(excludes("*.o", "a.o") && excludes("*.o", "src/deep/a.o") && excludes(".git", "x/.git", isFolder: true))
        #expect(!excludes("*.o", "a.o.txt") && !excludes("git", ".git") && !excludes("A.O", "a.o"))
        #expect(excludes("?[0-9]", "x/a7") && !excludes("?[0-9]", "x/ab"))
    }

    @Test("a pattern with a slash means the path in the folder")
    func paths() {
        #expect(excludes("src/*.o", "src/a.o") && excludes("/src/*.o", "src/a.o") && excludes("/a", "a"))
        #expect(!excludes("src/*.o", "src/deep/a.o") && !excludes("src/*.o", "x/src/a.o") && !excludes("/a", "x/a"))
    }

    @Test("a pattern that ends with a slash means folders only")
    func folders() {
        #expect(excludes("build/", "build", isFolder: true) && excludes("x/build/", "x/build", isFolder: true))
        #expect(!excludes("build/", "build"))
    }
}
