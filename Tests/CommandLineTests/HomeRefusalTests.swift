import Foundation
import Glibc
import Lines
import TestSupport
import Testing

@testable import CommandLine

@Suite("Refusals of command lines over a home with faults", .timeLimit(.minutes(1)))
struct HomeRefusalTests {
    @Test("a WAFT_HOME too long for a socket's address is refused with advice")
    func longHome() async {
        let home = CommandHome(place: "/" + String(repeating: "x", count: 120))
        await home.expect([("--port 0", .usage, "choose a shorter WAFT_HOME")], WaftDaemonCommand.self)
        await home.expect([
            ("status", .usage, "choose a shorter WAFT_HOME"), ("offers", .usage, "choose a shorter WAFT_HOME"),
        ])
    }

    @Test(
        "settings that cannot be keep a receiver from starting, with the line",
        arguments: [
            ("port: many\n", "line 1: port should be"), ("#x\nfoo: 1\n", "line 2: unknown setting"),
            ("a: [\n", "not YAML"),
            (
                "port: 4001\ndialects: {localsend: {port: 4001}}\n",
                "line 1: port and dialects.localsend.port are both 4001"
            ),
            ("hook: /bin/true\nhookWritable: [/]\n", "line 2: hookWritable: / contains"),
            ("protection: complete\n", "line 1: data protection has no keys"),
        ])
    func settings(text: String, complaint: String) async throws {
        let home = CommandHome()
        try home.configure(text)
        await home.expect([("", .usage, complaint)], WaftDaemonCommand.self)
    }

    @Test("with a broken config.yaml the verbs of handlers that only read go on with a warning, and the others refuse")
    func readingHandlers() async throws {
        let home = CommandHome()
        home.folder.file("files/x", "#!/bin/sh\n", mode: 0o755)
        #expect(await home.run("handlers add --name X --scheme x-a --run $F/x").exit == .done)
        try home.configure("port: many\n")
        for verb in ["list", "show X", "test x-a:b", "settings X", "default"] {
            let said = await home.run("handlers \(verb)")
            #expect(said.exit == .done && said.notes.contains("warning: the settings are not used"), "\(verb): \(said)")
        }
        await home.expect(
            ["disable X", "default x-a: X", "remove X"].map { ("handlers \($0)", .usage, "port should be") })
    }

    @Test("a program that is missing is refused as a setting, unless it comes later, and check sees it as set does")
    func missingProgram() async throws {
        let home = CommandHome()
        await home.expect([
            ("config set hook $F/arrived", .usage, "does not exist; items wait for it; nothing was changed")
        ])
        #expect(await home.run("config check").exit == .done)
        #expect(await home.run("config set hook $F/arrived --anyway").exit == .done)
        await home.expect([("config check", .usage, "the hook $F/arrived does not exist")])
        #expect(await home.run("config set name abc").exit == .done)
        // Another fault keeps the whole file from counting.
        try home.configure("nmae: x\n")
        let written = await home.run("config set name abc")
        #expect(written.exit == .usage && written.notes.contains("is written, and does not count"), "\(written)")
        #expect(try String(contentsOfFile: home.folder / "config/config.yaml", encoding: .utf8).contains("name: abc"))
    }

    @Test("share refuses words that do not go together, and activities that there are not")
    func share() async {
        let home = CommandHome()
        await home.expect([
            ("share $F/note.txt --exclude-activity x --list", .usage, "there are: org.waft.activity.airdrop, "),
            ("share $F/note.txt --activity org.waft.activity.save-image", .ineligible, "images and films"),
            ("share $F/note.txt --list --to x", .usage, "--list"), ("share $F/note.txt --all", .usage, "--list"),
            ("share $F/note.txt --to x --activity org.waft.activity.print", .usage, "--to is for"),
            ("share $F/note.txt --window --list", .usage, "--window asks"),
            ("share --desk -", .usage, "not standard input"), ("share --desk --text x", .usage, "--desk takes files"),
            ("share --desk $F/nothing", .inputMissing, "no such file"),
            (
                "share $F/note.txt --to x --exclude-activity org.waft.activity.airdrop", .usage,
                "is excluded"
            ),
        ])
        let wrong = await home.run("share --bogus --json")
        let events = wrong.results.matches(of: /"event":"([a-z]+)"/).map { $0.output.1 }
        #expect(wrong.exit == .usage && events == ["failed", "completed"], "\(wrong)")
    }

    @Test("a device has no preview, and the lines of a preview are a number within bounds")
    func preview() async {
        let home = CommandHome()
        await home.expect([
            ("preview /dev/zero", .inputMissing, "waft: /dev/zero: it is neither a file nor a folder"),
            ("preview --lines 0 $F/note.txt", .usage, "--lines"),
            ("preview --lines 10001 $F/note.txt", .usage, "--lines"),
            ("preview --lines x $F/note.txt", .usage, "--lines"),
        ])
    }
}
