import Digests
import Foundation
import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

@Suite("The digest of a stored item")
struct StoredDigestTests {
    private let folder = TemporaryFolder()

    private func read(
        _ name: String, isTree: Bool, _ algorithm: DigestAlgorithm = .xxh3_128
    ) throws(any Error) -> StoredDigest {
        let holder = try FileDescriptor.opening(folder.path, O_RDONLY | O_DIRECTORY)
        return try StoredDigest.read(name, in: holder.raw, isTree: isTree, algorithm: algorithm, fromDisk: true)
    }

    private func fault(_ name: String, isTree: Bool) -> StoredDigestError.Code? {
        do {
            _ = try read(name, isTree: isTree)
            return nil
        } catch {
            return (error as? StoredDigestError)?.code
        }
    }

    /// The listing of section 4.3 of the protocol, in the plainest form.
    private func listing(_ path: String, below place: String, _ algorithm: DigestAlgorithm) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        for name in names.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let (own, relative) = (path + "/" + name, place.isEmpty ? name : place + "/" + name)
            let status = try #require(lstatus(of: own))
            let value: [UInt8]
            let letter: Character
            switch status.st_mode & S_IFMT {
            case S_IFDIR: (letter, value) = ("d", [])
            case S_IFLNK:
                (letter, value) = ("l", Array(try FileManager.default.destinationOfSymbolicLink(atPath: own).utf8))
            default:
                letter = status.st_mode & 0o111 == 0 ? "f" : "x"
                value = Digest.of(algorithm, try #require(contents(of: own))).bytes
            }
            bytes += Array("\(letter)\(relative)\0".utf8) + value + [0]
            if letter == "d" { bytes += try listing(own, below: relative, algorithm) }
        }
        return bytes
    }

    @Test("of a file is that of its contents", arguments: DigestAlgorithm.allCases, [0, 1, 300_000])
    func file(algorithm: DigestAlgorithm, count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try Data(bytes).write(to: URL(fileURLWithPath: folder / "a"))
        let expected = StoredDigest(digest: .of(algorithm, bytes), size: UInt64(count), entries: 1)
        #expect(try read("a", isTree: false, algorithm) == expected)
    }

    @Test("of a tree is the one that its sender computes while it sends", arguments: DigestAlgorithm.allCases)
    func tree(algorithm: DigestAlgorithm) throws {
        let files = ["a/b/c", "a/x.txt", "a.txt", "a-b", "é/ü", "Z", "a/b/c.d", "empty/.keep"]
        for file in files {
            let path = folder / "tree/" + file
            try FileManager.default.createDirectory(
                atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
            makeFile(path, String(repeating: file, count: 100_000))
        }
        mkdir(folder / "tree/nothing", 0o755)
        chmod(folder / "tree/Z", 0o555)
        symlink("../x.txt", folder / "tree/a/b/link")
        let now = try read("tree", isTree: true, algorithm)
        #expect(now.digest == .of(algorithm, try listing(folder / "tree", below: "", algorithm)))
        // The tree itself, four folders with contents, one empty folder, and a link.
        #expect(now.entries == UInt64(files.count) + 7)
        #expect(now.size == files.reduce(0) { $0 + UInt64($1.utf8.count) * 100_000 })
    }

    @Test("of an empty tree is that of an empty listing")
    func emptyTree() throws {
        mkdir(folder / "tree", 0o755)
        let expected = StoredDigest(digest: .of(.xxh3_128, [UInt8]()), size: 0, entries: 1)
        #expect(try read("tree", isTree: true) == expected)
    }

    @Test("changes with a byte, a name, an executable bit, a link and an entry more")
    func changes() throws {
        mkdir(folder / "tree", 0o755)
        makeFile(folder / "tree/a", "1")
        symlink("a", folder / "tree/l")
        var seen: Set<Digest> = []
        func look() throws { #expect(seen.insert(try read("tree", isTree: true).digest).inserted) }
        try look()
        makeFile(folder / "tree/a", "2")
        try look()
        chmod(folder / "tree/a", 0o755)
        try look()
        rename(folder / "tree/a", folder / "tree/b")
        try look()
        unlink(folder / "tree/l")
        symlink("b", folder / "tree/l")
        try look()
        mkdir(folder / "tree/c", 0o755)
        try look()
    }

    @Test("follows no link: not for the item, not in it")
    func links() throws {
        makeFile(folder / "outside", "secret")
        symlink("outside", folder / "item")
        #expect(fault("item", isTree: false) == .different)
        mkdir(folder / "elsewhere", 0o755)
        symlink("elsewhere", folder / "folder")
        #expect(fault("folder", isTree: true) == .different)
        mkdir(folder / "tree", 0o755)
        symlink("../outside", folder / "tree/out")
        #expect(fault("tree", isTree: true) == .different)
    }

    @Test("reports items that are gone, replaced, or impossible for a receiver to have taken")
    func faults() throws {
        #expect(fault("none", isTree: false) == .gone)
        #expect(fault("none", isTree: true) == .gone)
        makeFile(folder / "file")
        #expect(fault("file", isTree: true) == .different)
        mkdir(folder / "tree", 0o755)
        #expect(fault("tree", isTree: false) == .different)
        mkfifo(folder / "pipe", 0o644)
        #expect(fault("pipe", isTree: false) == .different)
        mkfifo(folder / "tree/pipe", 0o644)
        #expect(fault("tree", isTree: true) == .different)
        unlink(folder / "tree/pipe")
        makeFile(folder / "tree/bell\u{7}")
        #expect(fault("tree", isTree: true) == .different)
        #expect(fault("../\(URL(fileURLWithPath: folder.path).lastPathComponent)", isTree: true) == .different)
        #expect(fault("..", isTree: true) == .different)
    }

    @Test("is that of the contents if only a link or a mode of the file changes during the reading")
    func quietChange() throws {
        makeFile(folder / "a", String(repeating: "x", count: 2_000_000))
        let holder = try FileDescriptor.opening(folder.path, O_RDONLY | O_DIRECTORY)
        var bytes = 0
        let digest = try StoredDigest.read("a", in: holder.raw, isTree: false, algorithm: .sha256) { count in
            if bytes == 0 { Glibc.link(folder / "a", folder / "b") }
            bytes += count
        }
        #expect(digest.digest == .of(.sha256, [UInt8](repeating: UInt8(ascii: "x"), count: 2_000_000)))
        #expect(bytes == 2_000_000)
    }

    @Test("is none of a file that is written to during the reading, although its time is set back")
    func setBack() throws {
        makeFile(folder / "a", String(repeating: "x", count: 2_000_000))
        let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0)]
        utimensat(AT_FDCWD, folder / "a", times, 0)
        let holder = try FileDescriptor.opening(folder.path, O_RDONLY | O_DIRECTORY)
        var isFirst = true
        let fault = #expect(throws: StoredDigestError.self) {
            try StoredDigest.read("a", in: holder.raw, isTree: false, algorithm: .sha256) { _ in
                guard isFirst else { return }
                isFirst = false
                let file = open(folder / "a", O_WRONLY)
                pwrite(file, "y", 1, 10)
                close(file)
                utimensat(AT_FDCWD, folder / "a", times, 0)
            }
        }
        #expect(fault?.code == .different)
    }

    @Test("ends if the callback throws, with the thrown error")
    func cancelling() throws {
        makeFile(folder / "a", String(repeating: "x", count: 2_000_000))
        let holder = try FileDescriptor.opening(folder.path, O_RDONLY | O_DIRECTORY)
        var bytes = 0
        #expect(throws: StoredDigestError(.cancelled, "a", "enough")) {
            try StoredDigest.read("a", in: holder.raw, isTree: false, algorithm: .sha256) {
                count throws(StoredDigestError) in
                bytes += count
                if bytes > 500_000 { throw StoredDigestError(.cancelled, "a", "enough") }
            }
        }
        #expect((500_000..<1_500_000).contains(bytes))
    }
}
