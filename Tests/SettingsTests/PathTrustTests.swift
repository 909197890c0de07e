import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import Settings

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
