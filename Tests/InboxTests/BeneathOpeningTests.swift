import Glibc
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

@Suite("Opening beneath a folder")
struct BeneathOpeningTests {
    private let folder = TemporaryFolder()

    private func failure(_ path: String, _ opening: BeneathOpening) throws -> Int32? {
        let root = FileDescriptor(owning: open(folder / "root", O_RDONLY | O_DIRECTORY))
        do {
            _ = try opening.open(path, below: root.raw, flags: O_RDONLY)
            return nil
        } catch {
            return error.number
        }
    }

    @Test("reaches the entries of its folder and nothing else", arguments: [BeneathOpening.inOneCall, .nameByName])
    func staysBeneath(opening: BeneathOpening) throws {
        mkdir(folder / "root", 0o755)
        mkdir(folder / "root/a", 0o755)
        mkdir(folder / "root/a/b", 0o755)
        makeFile(folder / "root/a/b/file")
        makeFile(folder / "outside")
        symlink("a", folder / "root/inner")
        symlink("../../outside", folder / "root/a/out")
        symlink("/etc", folder / "root/etc")
        symlink("/proc/self/root", folder / "root/magic")
        #expect(try failure("a", opening) == nil)
        #expect(try failure("a/b/file", opening) == nil)
        #expect(try failure("inner/b/file", opening) != nil)
        #expect(try failure("inner", opening) == ELOOP)
        #expect(try failure("a/out", opening) == ELOOP)
        #expect(try failure("etc/passwd", opening) != nil)
        #expect(try failure("magic/etc/passwd", opening) != nil)
        #expect(try failure("../outside", opening) == EXDEV)
        #expect(try failure("/etc/passwd", opening) == EXDEV)
        #expect(try failure("a/missing", opening) == ENOENT)
        #expect(try failure("a/b/file/x", opening) == ENOTDIR)
        #expect(try failure("", opening) == ENOENT)
    }

    @Test(
        "leaves no descriptor open, whether it succeeds or fails", arguments: [BeneathOpening.inOneCall, .nameByName])
    func closes(opening: BeneathOpening) throws {
        mkdir(folder / "root", 0o755)
        mkdir(folder / "root/a", 0o755)
        for path in ["a", "a/b", "a/b/c", "../a"] { _ = try failure(path, opening) }
        #expect(openDescriptors(below: folder.path) == 0)
    }
}
