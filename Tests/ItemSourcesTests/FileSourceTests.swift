import CLinuxShims
import Foundation
import Glibc
import ItemSources
import Sharing
import TestSupport
import Testing
import UniformTypes

@Suite("A file as a source")
struct FileSourceTests {
    private let folder = TemporaryFolder()

    @Test("is offered with its name, type and size, and read with its mode and time")
    func wholeFile() throws {
        let path = folder / "report.pdf"
        makeFile(path, "%PDF")
        chmod(path, 0o755)
        var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 42)]
        utimensat(AT_FDCWD, path, &times, 0)
        let source = try make(path)
        #expect(source.offered == OfferedItem(kind: .file, name: try SafeName("report.pdf"), type: .pdf, size: 4))
        #expect(source.origin == path)
        let yield = try read(source)
        #expect(yield.steps == ["f "])
        #expect(yield.contents[""] == Array("%PDF".utf8))
        let modified = Timestamp(seconds: 1_000_000, nanoseconds: 42)
        #expect(yield.entries[""] == FileEntry(path: nil, executable: true, modified: modified, size: 4))
    }

    @Test("can be read again", arguments: [0, 1, 100_000])
    func again(size: Int) throws {
        let text = String(repeating: "x", count: size)
        makeFile(folder / "a", text)
        let source = try make(folder / "a")
        for bufferSize in [1_000, 4_096, 1 << 20] {
            #expect(try read(source, bufferSize: bufferSize).contents[""] == Array(text.utf8))
        }
        #expect(openDescriptors(below: folder.path) == 0)
    }

    @Test("may be given a name and a type by the user, and without a type the name decides it")
    func overrides() throws {
        makeFile(folder / "tmp123", "x")
        let named = try ItemSources.make(path: folder / "tmp123", name: try SafeName("photo.jpg"))
        #expect(named.offered.name.text == "photo.jpg")
        #expect(named.offered.type == .jpeg)
        let typed = try ItemSources.make(path: folder / "tmp123", type: .pdf)
        #expect(typed.offered.name.text == "tmp123")
        #expect(typed.offered.type == .pdf)
    }

    @Test("that does not exist is missing, and the message is one line")
    func missing() throws {
        #expect(
            fault { _ = try make(folder / "none") }
                == SourceError(
                    .missing, "\(folder / "none"): there is no such file or folder"))
        #expect(fault { _ = try make("") } == SourceError(.missing, "\"\": the path is empty"))
        makeFile(folder / "file")
        #expect(fault { _ = try make(folder / "file/") }?.code == .missing)
        #expect(
            fault { _ = try make(folder / "file/x") }
                == SourceError(
                    .missing, "\(folder / "file/x"): a file stands where its path needs a folder"))
        symlink("nowhere", folder / "dangling")
        #expect(
            fault { _ = try make(folder / "dangling") }
                == SourceError(
                    .missing, "\(folder / "dangling"): the target of the link does not exist"))
        symlink("circle", folder / "circle")
        #expect(fault { _ = try make(folder / "circle") }?.code == .unreadable)
    }

    @Test("an examination of a folder does not walk through it, and is refused for an item that cannot be sent")
    func look() throws {
        mkdir(folder / "notes.bundle", 0o755)
        symlink("/etc/passwd", folder / "notes.bundle/out")
        mkfifo(folder / "pipe", 0o600)
        let found = try ItemSources.look(at: folder / "notes.bundle/")
        #expect(found.type.identifier == "com.apple.generic-bundle" && found.kind == .directory)
        #expect(fault { _ = try ItemSources.look(at: folder / "pipe") }?.code == .unreadable)
        #expect(fault { _ = try ItemSources.look(at: folder / "none") }?.code == .missing)
    }

    @Test("reached by a link has the link's name")
    func link() throws {
        makeFile(folder / "real.pdf", "x")
        symlink("real.pdf", folder / "link.txt")
        let source = try make(folder / "link.txt")
        #expect(source.offered.name.text == "link.txt")
        #expect(source.offered.type == .plainText)
        #expect(try read(source).contents[""] == [0x78])
    }

    @Test("that may not be read is found before it is offered")
    func unreadable() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            makeFile(folder / "secret", "x")
            chmod(folder / "secret", 0o000)
            chmod(folder.path, 0o755)
            mkdir(folder / "closed", 0o700)
            makeFile(folder / "closed/file")
            // Not as root, which may read everything.
            #expect(seteuid(65_534) == 0)
            #expect(
                fault { _ = try make(folder / "secret") }
                    == SourceError(
                        .unreadable,
                        "\(folder / "secret"): may not be read (Permission denied); check its permissions, or leave it out"
                    ))
            #expect(fault { _ = try make(folder / "closed/file") }?.code == .unreadable)
            #expect(fault { _ = try make(folder / "closed") }?.code == .unreadable)
            #expect(seteuid(0) == 0)
        }
    }

    @Test("that is a pipe, a socket or a device is refused without being opened")
    func special() throws {
        mkfifo(folder / "pipe", 0o600)
        #expect(
            fault { _ = try make(folder / "pipe") }
                == SourceError(
                    .unreadable,
                    "\(folder / "pipe"): is a named pipe and cannot be sent; "
                        + "to send what comes through it: COMMAND | waft send -"))
        #expect(
            fault { _ = try make("/dev/null") }
                == SourceError(
                    .unreadable, "/dev/null: is a device and cannot be sent; leave it out"))
    }

    @Test("whose name cannot be sent is refused, unless it is given another")
    func unfitName() throws {
        let path = folder / "line\nbreak"
        makeFile(path, "x")
        let words = "\(folder / "line\\nbreak"): the name contains control or direction-changing characters; rename it"
        #expect(fault { _ = try make(path) } == SourceError(.unreadable, words))
        // Only a command that has the option names it.
        #expect(
            fault { _ = try ItemSources.make(path: path, canName: true) }
                == SourceError(.unreadable, words + ", or give another name with --name"))
        let source = try ItemSources.make(path: path, name: try SafeName("fit"))
        #expect(try read(source).contents[""] == [0x78])
    }

    @Test("that the kernel makes up, with contents and no size, is refused")
    func madeUp() throws {
        #expect(fault { _ = try make("/proc/self/status") }?.code == .changed)
    }

    @Test("that the kernel makes up, with fewer contents than its size, is refused with the way to send it")
    func madeUpSize() throws {
        let path = "/sys/class/net/lo/mtu"
        #expect(
            fault { _ = try read(try make(path)) }
                == SourceError(
                    .changed, "\(path): it holds less than its size says; pipe it to standard input instead"))
    }

    @Test("that has another size when it is opened has changed")
    func changedSize() throws {
        makeFile(folder / "a", "12345")
        let source = try make(folder / "a")
        makeFile(folder / "a", "1234567")
        #expect(
            fault { _ = try read(source) }
                == SourceError(
                    .changed, "\(folder / "a"): changed while it was sent: its size changed; send it again"))
    }

    @Test("that vanishes before it is opened is missing")
    func vanished() throws {
        makeFile(folder / "a", "12345")
        let source = try make(folder / "a")
        unlink(folder / "a")
        #expect(fault { _ = try read(source) }?.code == .missing)
    }

    @Test("that becomes a pipe before it is opened has changed, and the sender does not wait for a writer")
    func becomesPipe() throws {
        makeFile(folder / "a", "12345")
        let source = try make(folder / "a")
        unlink(folder / "a")
        mkfifo(folder / "a", 0o600)
        #expect(fault { _ = try read(source) }?.code == .changed)
    }

    enum Change: CaseIterable {
        case grown
        case truncated
        case rewritten
        case emptied
        case touched
    }

    @Test("that changes while it is read has changed", arguments: Change.allCases)
    func changesMeanwhile(change: Change) throws {
        let path = folder / "a"
        makeFile(path, String(repeating: "x", count: 100_000))
        makeOld(path)
        let source = try make(path)
        let found = fault {
            _ = try read(source, bufferSize: 10_000) { _, pieces in
                guard pieces == 5 else { return }
                let file = open(path, O_WRONLY)
                switch change {
                case .grown: pwrite(file, "y", 1, 100_000)
                case .truncated: ftruncate(file, 70_000)
                case .rewritten: pwrite(file, "y", 1, 10)
                case .emptied: ftruncate(file, 0)
                case .touched: futimens(file, nil)
                }
                close(file)
            }
        }
        #expect(found?.code == .changed)
        #expect(openDescriptors(below: folder.path) == 0)
    }

    @Test(
        "that gets another link, mode or time of access while it is read is read to its end",
        arguments: [0, 100_000], [Quiet.linked, .renamed, .made, .read])
    func changesQuietly(size: Int, change: Quiet) throws {
        let path = folder / "a"
        makeFile(path, String(repeating: "x", count: size))
        makeOld(path)
        let source = try make(path)
        let yield = try read(source, bufferSize: 10_000) { _, pieces in
            guard pieces == (size == 0 ? 0 : 5) else { return }
            switch change {
            case .linked: Glibc.link(path, folder / "b")
            case .renamed: Glibc.rename(path, folder / "c")
            case .made: chmod(path, 0o700)
            case .read:
                let times = [timespec(tv_sec: 2_000_000, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0)]
                utimensat(AT_FDCWD, path, times, 0)
            }
        }
        #expect(yield.contents[""]?.count == size)
        #expect(openDescriptors(below: folder.path) == 0)
    }

    enum Quiet { case linked, renamed, made, read }

    @Test(
        "that is written to while it is read has changed, although its time of modification was set back",
        arguments: [0, 30_000])
    func setBack(start: Int) throws {
        let path = folder / "a"
        makeFile(path, String(repeating: "x", count: 100_000))
        makeOld(path)
        let reading = try make(path).open()
        _ = try reading.next()
        try reading.seek(to: UInt64(start))
        var buffer = [UInt8](repeating: 0, count: 50_000)
        _ = try buffer.withUnsafeMutableBytes { try reading.read(into: $0) }
        let file = open(path, O_WRONLY)
        pwrite(file, "y", 1, off_t(start + 10))
        close(file)
        makeOld(path)
        let found = fault {
            while try buffer.withUnsafeMutableBytes({ try reading.read(into: $0) }) > 0 {}
        }
        #expect(found?.code == .changed)
    }

    /// Some kernels have coarse file times, which cannot tell two writes of one moment apart.
    private func makeOld(_ path: String) {
        let times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_000_000, tv_nsec: 0)]
        utimensat(AT_FDCWD, path, times, 0)
    }

    @Test("that grows after its last byte was read has changed")
    func growsAtEnd() throws {
        let path = folder / "a"
        makeFile(path, "12345")
        let source = try make(path)
        #expect(
            fault { _ = try read(source) { _, pieces in if pieces == 1 { makeFile(path, "123456") } } }?.code
                == .changed)
    }

    @Test("that another file takes the place of while it is read is read to its end")
    func replacedMeanwhile() throws {
        let path = folder / "a"
        makeFile(path, String(repeating: "x", count: 50_000))
        makeFile(folder / "b", String(repeating: "y", count: 50_000))
        let source = try make(path)
        var renamed = false
        let outcome = fault {
            let yield = try read(source, bufferSize: 10_000) { _, pieces in
                if pieces == 2 { renamed = rename(folder / "b", path) == 0 }
            }
            #expect(yield.contents[""] == [UInt8](repeating: UInt8(ascii: "x"), count: 50_000))
        }
        // The last name of the file was removed, which the kernel counts as a change of the file.
        #expect(renamed && (outcome == nil || outcome?.code == .changed))
    }

    @Test("of many holes is offered with its size", arguments: [1 << 32, 1 << 40] as [Int])
    func sparse(size: Int) throws {
        makeFile(folder / "sparse")
        truncate(folder / "sparse", off_t(size))
        let source = try make(folder / "sparse")
        #expect(source.offered.size == UInt64(size))
    }

    @Test("larger than an item may be is refused")
    func tooLarge() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try #require(CLinuxShims_unshare_mounts() == 0 && CLinuxShims_make_mounts_private() == 0)
            mkdir(folder / "disk", 0o700)
            try #require(CLinuxShims_mount_tmpfs(folder / "disk", "1m") == 0)
            defer { umount2(folder / "disk", 0) }
            for name in ["a", "b"] {
                makeFile(folder / "disk/\(name)")
                try #require(truncate(folder / "disk/\(name)", .max) == 0)
            }
            #expect(fault { _ = try make(folder / "disk/a") }?.code == .unreadable)
            #expect(fault { _ = try make(folder / "disk") }?.code == .unreadable)
        }
    }
}
