import Glibc
import ItemSources
import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("A folder with much in it")
struct TreeCountTests {
    private let folder = TemporaryFolder()

    private func makeTree(_ folders: Int, of files: Int) -> String {
        mkdir(folder / "outer", 0o755)
        let root = folder / "outer/tree"
        mkdir(root, 0o755)
        for number in 0..<folders {
            mkdir("\(root)/d\(number)", 0o755)
            for file in 0..<files { makeFile("\(root)/d\(number)/f\(file)", String(repeating: "x", count: number)) }
        }
        return root
    }

    @Test("is counted whole, each entry once", arguments: [(1, 3_000), (60, 40), (3_000, 0), (40, 60)])
    func whole(folders: Int, files: Int) throws {
        let root = makeTree(folders, of: files)
        // In the folder itself, between other entries and after them.
        for number in 0..<200 { makeFile("\(root)/d\(number)-beside", "12345") }
        makeFile(root + "/z", String(repeating: "z", count: 4_321))
        let bytes = files * folders * (folders - 1) / 2 + 200 * 5 + 4_321
        let source = try make(root)
        #expect(source.offered.entries == UInt64(1 + folders + folders * files + 201))
        #expect(source.offered.size == UInt64(bytes))
        #expect((source as? TreeSource)?.largestFile == 4_321)
        // With no other entries beside it.
        #expect(try make(folder / "outer").offered.entries == source.offered.entries.map { $0 + 1 })
        #expect(try read(try make(root)).entries.count == folders * files + 201)
    }

    @Test("is closed again when it has been counted, and when something in it cannot be sent")
    func closed() throws {
        let root = makeTree(4, of: 4)
        _ = try make(root)
        #expect(openDescriptors(below: folder.path) == 0)
        mkfifo(root + "/d1/pipe", 0o600)
        #expect(throws: SourceError.self) { _ = try make(root) }
        #expect(openDescriptors(below: folder.path) == 0)
    }

    @Test("with more than one thing in it that cannot be sent is refused for all of them, in their order")
    func firstOfMany() throws {
        let root = makeTree(80, of: 40)
        var found: [String] = []
        for number in [79, 50, 35, 34] {
            mkfifo("\(root)/d\(number)/pipe", 0o600)
            found.insert("\(root)/d\(number)/pipe: is a named pipe and cannot be sent; leave it out", at: 0)
            let fault = try #require(fault { _ = try make(root) })
            #expect([fault.message] + fault.others == found)
        }
        #expect(openDescriptors(below: folder.path) == 0)
    }
}
