import Glibc
import Testing

@testable import HookSandbox

@Suite("The hint after a denied write")
struct SandboxDenialTests {
    let fixture: SandboxFixture

    init() throws { fixture = try SandboxFixture() }

    private func denials(_ text: String) -> [SandboxDenial] {
        SandboxDenial.denials(in: text, plan: fixture.plan([]))
    }

    @Test("the path and the flag are found in the words of many programs")
    func words() {
        let home = fixture.home
        let lines = [
            "/bin/sh: 1: cannot create \(home)/new: Permission denied",
            "\(fixture.folder)/run.sh: line 3: \(home)/new: Permission denied",
            "cp: cannot create regular file '\(home)/new': Permission denied",
            "cp: cannot create regular file ‘\(home)/new’: Permission denied",
            "mkdir: can't create directory '\(home)/new': Permission denied",
            "mv: cannot move '\(fixture.inbox)/photo.png' to '\(home)/new': Permission denied",
            "PermissionError: [Errno 13] Permission denied: '\(home)/new'",
            "Error: EACCES: permission denied, open '\(home)/new'",
            "open \(home)/new: permission denied",
        ]
        for line in lines {
            let found = denials("some output\n\(line)\nmore\n")
            #expect(found.map(\.path) == [home + "/new"], "\(line)")
            #expect(found.first?.remedy == .allow(path: home), "\(line)")
            #expect(found.first?.description.hasSuffix("add --writable \(home)") == true)
        }
    }

    @Test("a folder is named itself, and quoted where a shell needs it")
    func folders() throws {
        let folder = fixture.root + "/it's here"
        try #require(mkdir(folder, 0o700) == 0)
        let found = denials("cannot create \(folder)/a: Permission denied\ntouch: \(fixture.home): Permission denied")
        #expect(found.map(\.remedy) == [.allow(path: folder), .allow(path: fixture.home)])
        #expect(found.first?.description.hasSuffix("--writable '\(fixture.root)/it'\\''s here'") == true)
    }

    @Test("the hint for the configured hook names the configuration, in YAML")
    func configuredHook() throws {
        let folder = fixture.root + "/it's here"
        try #require(mkdir(folder, 0o700) == 0)
        let text =
            "touch: \(folder): Permission denied\ntouch: \(fixture.home): Permission denied\n"
            + "touch: \(fixture.root)/a: Permission denied"
        let lines = denials(text).map { $0.text(for: .configuredHook) }
        #expect(lines.count == 3)
        #expect(lines[0].hasSuffix("add hookWritable: ['\(fixture.root)/it''s here'] to config.yaml"))
        #expect(lines[1].hasSuffix("to allow it, add hookWritable: [\(fixture.home)] to config.yaml"))
        #expect(lines[2].contains("make a folder for what this handler writes"))
        #expect(lines[2].hasSuffix("add hookWritable: [FOLDER] to config.yaml"))
    }

    @Test("no flag is named for a path in the Inbox, nor for a folder that contains it")
    func inbox() {
        #expect(denials("rm: cannot touch '\(fixture.inbox)/a': Permission denied").first?.remedy == .leaveInbox)
        #expect(denials("cannot create \(fixture.root)/a: Permission denied").first?.remedy == .folderOfItsOwn)
    }

    @Test("a refused read is distinguished, and no flag is named for Waft's folders, a bundle or the program itself")
    func reading() throws {
        var plan = fixture.plan([])
        plan.forbiddenPlaces = [fixture.root + "/state"]
        plan.readablePaths = ["/bin/sh"]
        func found(_ line: String) -> [SandboxDenial] { SandboxDenial.denials(in: line, plan: plan) }
        let read = found("cat: \(fixture.home): Permission denied")
        #expect(read.map(\.remedy) == [.allowReading(path: fixture.home)])
        #expect(read.first?.description.contains("add --readable \(fixture.home);") == true)
        #expect(
            read.first?.text(for: .configuredHook).contains("add hookReadable: [\(fixture.home)] to config.yaml;")
                == true)
        #expect(found("cat: \(fixture.root)/state/identity.pem: Permission denied").map(\.remedy) == [.leaveWaft])
        #expect(found("cannot create \(plan.bundle)/Info.plist: Permission denied").map(\.remedy) == [.useData])
        #expect(found("/bin/sh: 4: cannot create ./Info.plist: Permission denied").isEmpty)
    }

    @Test("a rename out of the Inbox is explained")
    func crossDevice() {
        let text = "OSError: [Errno 18] Invalid cross-device link: '\(fixture.inbox)/a' -> '\(fixture.folder)/a'"
        #expect(denials(text).map(\.remedy) == [.copyOutOfInbox])
        #expect(denials("Invalid cross-device link: '\(fixture.home)/a' -> '/b'").isEmpty)
    }

    @Test("there is no hint for other complaints, for writable paths, or if the user cannot write either")
    func silence() {
        #expect(denials("").isEmpty)
        #expect(denials("\(fixture.home)/x: No such file or directory").isEmpty)
        #expect(denials("Permission denied").isEmpty)
        #expect(denials("ssh: user@host: Permission denied (publickey).").isEmpty)
        #expect(denials("cannot open \(fixture.folder)/x: Permission denied").isEmpty)
        #expect(denials("cannot open \(fixture.named)/x: Permission denied").isEmpty)
        #expect(denials("cannot open '/missing/folder/x': Permission denied").isEmpty)
        #expect(denials("cannot open '\(fixture.folder)/../home/x': Permission denied").isEmpty)
        #expect(denials("cannot open '\(fixture.home)/\u{1b}[2J': Permission denied").isEmpty)
        let line = "cannot create \(fixture.home)/new: Permission denied"
        #expect(SandboxDenial.denials(in: line, plan: fixture.plan([], level: .none)).isEmpty)
    }

    @Test("each path is reported once, and at most the maximum number of them")
    func limits() {
        let line = "cannot create \(fixture.home)/new: Permission denied\n"
        #expect(denials(line + line).count == 1)
        let many = (0..<100).map { "cannot create \(fixture.home)/\($0): Permission denied\n" }.joined()
        #expect(denials(many).count == SandboxDenial.maximumDenials)
        #expect(denials(line + String(repeating: "x", count: SandboxDenial.longestTail)).isEmpty)
    }

    @Test(
        "the standard error of a real hook is understood",
        .enabled(if: HookSandbox.support.abi >= 1, "NOT TESTED: this kernel has no Landlock"))
    func realHook() throws {
        let plan = fixture.shell("cp '\(fixture.inbox)/photo.png' '\(fixture.home)/'; echo x > '\(fixture.home)/b'")
        let run = try fixture.run(plan)
        #expect(run.exitCode != 0)
        let found = SandboxDenial.denials(in: run.error, plan: plan)
        #expect(found.map(\.path) == ["photo.png", "b"].map { fixture.home + "/" + $0 })
    }
}
