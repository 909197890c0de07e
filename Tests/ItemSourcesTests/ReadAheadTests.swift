import Foundation
import Glibc
import ItemSources
import Sharing
import TestSupport
import Testing

/// Whether a folder below /tmp can be on a disk and not in memory.
private let hasDisk: Bool = {
    let folder = TemporaryFolder()
    makeFile(folder / "f", "contents")
    evict(folder / "f")
    return !isInMemory(folder / "f")
}()

@Suite(
    "A folder whose files are on a disk and not in memory",
    .enabled(if: hasDisk, "NOT RUN: /tmp is in memory, or its file system cannot tell"), .timeLimit(.minutes(1)))
struct ReadAheadTests {
    private let folder = TemporaryFolder()
    private var root: String { folder / "tree" }
    private let names = (0..<300).map { String(format: "%d/%03d", $0 / 100, $0) }

    init() {
        mkdir(root, 0o755)
        for inner in 0..<3 { mkdir(root + "/\(inner)", 0o755) }
        for name in names {
            makeFile(root + "/" + name, "contents of " + name)
            evict(root + "/" + name)
        }
    }

    @Test("has the next ones read by the kernel while the first one is read, over the end of an inner folder too")
    func ahead() throws {
        for name in names[..<80] { _ = FileManager.default.contents(atPath: root + "/" + name) }
        let source = try make(root)
        var isAhead = false
        // The kernel reads them at some later time. While its disk or its memory is short it passes some over, or drops them.
        while !isAhead {
            for name in names[80...] { evict(root + "/" + name) }
            let reading = try source.open()
            var buffer = [UInt8](repeating: 0, count: 4_096)
            var files = 0
            while files < 81, let step = try reading.next() {
                guard case .file = step else { continue }
                files += 1
                while try buffer.withUnsafeMutableBytes({ try reading.read(into: $0) }) > 0 {}
            }
            for _ in 0..<100 where !isAhead {
                try Task.checkCancellation()
                isAhead = names[81..<130].count { isInMemory(root + "/" + $0) } >= 12
                usleep(5_000)
            }
        }
        #expect(!isInMemory(root + "/" + names[299]))
    }

    @Test("comes whole and in order")
    func whole() throws {
        let yield = try read(try make(root))
        #expect(yield.contents.count == names.count)
        for name in names {
            #expect(yield.contents[name].map { String(decoding: $0, as: UTF8.self) } == "contents of " + name)
        }
        #expect(yield.steps.filter { $0.hasPrefix("f") } == names.map { "f " + $0 })
        #expect(openDescriptors(below: folder.path) == 0)
    }

    @Test("is not of one piece where one of those ahead is gone, or is something else, when it is reached")
    func changed() throws {
        for (change, code) in [
            ({ (path: String) in _ = unlink(path) }, SourceError.Code.missing),
            (
                { (path: String) in
                    _ = unlink(path)
                    mkfifo(path, 0o600)
                }, .changed
            ),
            (
                { (path: String) in
                    _ = unlink(path)
                    symlink("/etc/passwd", path)
                }, .changed
            ),
        ] {
            let source = try make(root)
            for name in names { evict(root + "/" + name) }
            let found = fault {
                _ = try read(source) { step, pieces in
                    // Its contents have been requested by now.
                    if case .file(let entry) = step, entry.path?.text == names[40], pieces == 1 {
                        change(root + "/" + names[60])
                    }
                }
            }
            #expect(found?.code == code)
            #expect(found?.message.contains(names[60]) == true)
            #expect(openDescriptors(below: folder.path) == 0)
            unlink(root + "/" + names[60])
            makeFile(root + "/" + names[60], "contents of " + names[60])
        }
    }
}

/// Writes a file to the disk and lets the kernel forget its contents.
private func evict(_ path: String) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    fsync(file)
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)
}

/// Whether the first page of a file is in memory.
private func isInMemory(_ path: String) -> Bool {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    guard let page = mmap(nil, 1, PROT_READ, MAP_SHARED, file, 0), page != MAP_FAILED else { return false }
    defer { munmap(page, 1) }
    var state: UInt8 = 0
    return mincore(page, 1, &state) == 0 && state & 1 == 1
}
