import Foundation
import TestSupport
import Testing

@testable import Settings
@testable import SystemCalls

@Suite("Folders that another user could change", .enabled(if: geteuid() == 0, "needs root, to give folders away"))
struct PathTrustTests {
    private let folder = TemporaryFolder()
    private var home: String { folder / "home" }

    /// The reason why a path is refused; nil if it is trusted.
    private func refusal(_ path: String) -> String? {
        do throws(PathTrustError) {
            try PathTrust().check(path)
            return nil
        } catch {
            return error.description
        }
    }

    private func make(_ path: String, mode: mode_t = 0o700) {
        mkdir(path, 0o700)
        chmod(path, mode)
    }

    @Test("are trusted where they belong to the user or root, also below /tmp, and where something is missing")
    func trusted() {
        make(home)
        for path in [home, home + "/state", home + "/not/there/yet", "/", "/etc/passwd"] {
            #expect(refusal(path) == nil)
        }
    }

    @Test("are refused by name, with the command that mends it")
    func owner() {
        make(home)
        make(home + "/it's")
        chown(home + "/it's", 4242, 4242)
        let line = refusal(home + "/it's")
        #expect(line?.contains("\(home)/it's belongs to another user (uid 4242)") == true)
        #expect(line?.hasSuffix("chown 0 '\(home)/it'\\''s'") == true, "\(line ?? "")")
        #expect(refusal(home + "/it's/state/contacts.json") == line, "of what is below them too")
    }

    @Test("are refused with the options of the mount that help, on a disk on which chmod may change nothing")
    func mount() {
        let table = """
            22 1 8:1 / / rw - ext4 /dev/sda1 rw
            40 22 0:45 / /mnt/a\\040b rw,nosuid shared:5 - fuseblk /dev/sdb1 rw,user_id=0
            41 22 259:300 / /mnt/c rw master:1 shared:2 - exfat /dev/nvme0n1p1 rw
            """
        #expect(MountedDisk.type(of: UInt(makedev(0, 45)), in: table) == "fuseblk")
        #expect(MountedDisk.type(of: UInt(makedev(259, 300)), in: table) == "exfat")
        #expect(MountedDisk.type(of: UInt(makedev(8, 2)), in: table) == nil)
        let line = PathTrustError.mode("/mnt/c", 0o777, 0o022, user: 1000, disk: "exfat").description
        #expect(
            line.hasSuffix(
                "chmod go-w /mnt/c; if that changes nothing, mount its disk (exfat) with the options uid=1000,umask=022"
            ), "\(line)")
        #expect(PathTrustError.mode("/x", 0o777, 0o022, user: 1000, disk: "ext4").description.hasSuffix("/x"))
    }

    private func makedev(_ major: UInt, _ minor: UInt) -> UInt {
        (major & 0xFFF) << 8 | (major & ~0xFFF) << 32 | minor & 0xFF | (minor & ~0xFF) << 12
    }

    @Test(
        "are refused where others can write",
        arguments: [(0o777, "go-w", true), (0o770, "g-w", true), (0o702, "o-w", true), (0o1777, "go-w", false)]
            as [(mode_t, String, Bool)])
    func mode(mode: mode_t, change: String, isRefusedAbove: Bool) {
        make(home, mode: mode)
        // A group other than root's own.
        chown(home, 0, 4242)
        chmod(home, mode)
        #expect(refusal(home)?.hasSuffix("chmod \(change) \(home)") == true, "\(refusal(home) ?? "trusted")")
        // In a folder with the sticky bit, such as /tmp, users cannot change entries of others.
        #expect((refusal(home + "/state") != nil) == isRefusedAbove)
    }

    @Test("are the user's where the group that can write is the user's own")
    func ownGroup() {
        make(home, mode: 0o775)
        // The group `root` of the user `root`.
        #expect(refusal(home) == nil)
    }

    @Test("are judged by the targets of links and by the makers of links")
    func links() {
        make(home)
        make(folder / "open", mode: 0o777)
        make(folder / "open/inner")
        symlink("home", folder / "good")
        symlink(folder / "open/inner", folder / "open-target")
        symlink("../open/inner", home + "/state")
        symlink(home, folder / "strange")
        lchown(folder / "strange", 4242, 4242)
        symlink("loop", folder / "loop")
        symlink("nowhere", folder / "dangling")
        #expect(refusal(folder / "good/config") == nil)
        #expect(refusal(folder / "open-target")?.contains("chmod o-w \(folder.path)/open") == true)
        #expect(refusal(home + "/state") != nil)
        #expect(refusal(folder / "strange")?.contains("the link \(folder.path)/strange was made by") == true)
        #expect(refusal(folder / "strange")?.contains("chown -h 0 ") == true)
        #expect(refusal(folder / "loop") == nil && refusal(folder / "dangling") == nil, "nothing is there")
    }

    @Test(
        "are all that Waft goes by",
        arguments: [
            "config", "state", "run", "handlers", "config/config.yaml", "config/handlers.json", "state/contacts.json",
            "state/visibility.json", "state/identity.pem", "state/journal.sqlite", "state/outbox",
        ])
    func all(name: String) throws {
        make(home)
        let whole = try Home(environment: ["WAFT_HOME": home])
        try whole.makeFolders()
        try whole.checkTrust()
        if !FileManager.default.fileExists(atPath: home + "/" + name) {
            if name.contains(".") { folder.file("home/" + name, "x") } else { make(home + "/" + name) }
        }
        chown(home + "/" + name, 4242, 0)
        #expect(throws: PathTrustError.self) { try whole.checkTrust() }
    }
}
