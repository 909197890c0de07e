import Foundation
import Previews
import TestSupport
import Testing

@Suite("Names in archives and folders")
struct ListingTests {
    private let files = PreviewFolder()

    private func makeTree() throws {
        try FileManager.default.createDirectory(
            atPath: files.folder / "tree/a/b/c", withIntermediateDirectories: true)
        _ = try files.write(Array("hello".utf8), "tree/é.txt")
        _ = try files.write([], "tree/a/b/c/deep.txt")
        try FileManager.default.createSymbolicLink(
            atPath: files.folder / "tree/link", withDestinationPath: "/etc/passwd")
    }

    @Test(
        "names, kinds and sizes of tar, tar.gz and zip are listed, and nothing is unpacked",
        arguments: [
            ("a.tar", "/usr/bin/tar", ["cf", "a.tar"]), ("a.tar.gz", "/usr/bin/tar", ["czf", "a.tar.gz"]),
            ("a.zip", "/usr/bin/zip", ["-qry", "a.zip"]),
        ])
    func archives(name: String, program: String, words: [String]) throws {
        try makeTree()
        try files.run(program, words + ["tree"])
        let before = try FileManager.default.subpathsOfDirectory(atPath: files.folder / "").count
        let listing = try #require(try files.listing(at: files.folder / name))
        let file = listing.members.first { $0.path == "tree/é.txt" }
        #expect(file?.size == 5 && file?.kind == .file, "\(listing)")
        #expect(listing.members.first { $0.path == "tree/link" }?.kind == .link)
        #expect(listing.members.contains { $0.path == "tree/a/b/c/" && $0.kind == .folder } && !listing.isCut)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: files.folder / "").count == before)
    }

    @Test("of an archive with more names the first thousand are listed")
    func many() throws {
        try FileManager.default.createDirectory(atPath: files.folder / "many", withIntermediateDirectories: true)
        for number in 0..<1_200 { _ = try files.write([], "many/\(number)") }
        try files.run("/usr/bin/tar", ["cf", "many.tar", "many"])
        let listing = try #require(try files.listing(at: files.folder / "many.tar"))
        #expect(listing.members.count == PreviewBounds.members && listing.isCut)
    }

    @Test("an archive that is cut off shows the names before, and a compressed endless file ends in time")
    func damage() throws {
        try makeTree()
        try files.run("/usr/bin/tar", ["cf", "a.tar", "tree"])
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: files.folder / "a.tar")))
        for count in stride(from: 0, to: 3_000, by: 97) {
            _ = try files.finding(Array(bytes.prefix(count)), "cut.tar")
        }
        try files.run("/bin/sh", ["-c", "head -c 64M /dev/zero | gzip -1 > zeros.gz"])
        _ = try files.listing(at: files.folder / "zeros.gz")
    }

    @Test("a folder is shown three levels deep, with its links as links")
    func tree() throws {
        try makeTree()
        let tree = try #require(FolderTree(path: files.folder / "tree"))
        #expect(tree.entries.map { "\($0.level) \($0.name)" } == ["0 a", "1 b", "2 c", "0 link", "0 é.txt"])
        #expect(tree.entries.map(\.kind) == [.folder, .folder, .folder, .link, .file(5)] && !tree.isCut)
        #expect(FolderTree(path: files.folder / "nowhere") == nil)
    }

    @Test("of a folder with more names a hundred are shown, and the others counted")
    func wide() throws {
        try FileManager.default.createDirectory(atPath: files.folder / "many", withIntermediateDirectories: true)
        for number in 0..<130 { _ = try files.write([], "many/\(number)") }
        let tree = try #require(FolderTree(path: files.folder / "many"))
        #expect(tree.entries.count == 101 && tree.entries.last?.kind == .omitted(30) && tree.isCut)
    }
}
