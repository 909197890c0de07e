import Foundation
import Glibc
import Lines
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("Refusals of waft send", .timeLimit(.minutes(1)))
struct SendRefusalTests {
    private let home = CommandHome()

    @Test("the name of a contact in the place of a file says how a machine is named, and a near name is asked about")
    func machineAsFile() async {
        #expect(await home.run("contacts allow \(PeerID.sample(1).text) --name study").exit == .done)
        await home.expect([
            (
                "send $F/note.txt study", .inputMissing,
                "study is no file here, but a contact: write study: or --to study"
            ),
            ("send $F/note.txt attic", .inputMissing, "attic: there is no such file or folder"),
            ("send $F/note.txt --to stdy --timeout 0.1", .peerNotFound, "did you mean study?"),
        ])
    }

    @Test("a --type that the item cannot have is refused, and no peer gets an offer")
    func typeOfAnotherKind() async {
        await home.expect([
            ("send $F/trip --type public.png --to 127.0.0.1:1", .usage, "a folder needs a type of folders"),
            ("send $F/note.txt --type public.folder --to 127.0.0.1:1", .usage, "a file cannot have a type of folders"),
            ("send --text x --type public.png --to 127.0.0.1:1", .usage, "a text needs a type of texts"),
            ("send --url https://x.y --type public.png --to 127.0.0.1:1", .usage, "a URL needs a type of URLs"),
        ])
    }

    @Test("with --json the failure is an event, the last one is done with the exit code, and nothing is said twice")
    func events() async {
        let ways: [(line: String, exit: WaftExit, reason: String)] = [
            ("$F/nothing --to 127.0.0.1:1", .inputMissing, "there is no such file"),
            ("$F/note.txt --to kitchen:99999", .usage, "ends with no port number"),
            ("--to 127.0.0.1:1", .usage, "nothing to send"),
            ("$F/note.txt --to 127.0.0.1:1 --timeout 0", .usage, "it should be seconds above 0"),
            ("$F/nothing --to kitchen --queue", .inputMissing, "there is no such file"),
        ]
        for way in ways {
            let said = await home.run("send \(way.line) --json")
            let events = said.results.matches(of: /"event":"([a-z]+)"/).map { $0.output.1 }
            #expect(said.exit == way.exit && events == ["failed", "done"], "\(way): \(said)")
            #expect(said.results.matches(of: /"exit":(\d+)/).allSatisfy { $0.output.1 == "\(way.exit.rawValue)" })
            #expect(said.failures.count == 1 && said.failures[0].contains(way.reason) && said.notes.isEmpty, "\(said)")
        }
    }

    @Test("a value of the wrong form gets advice that fits it")
    func wrongForm() async {
        await home.expect([
            ("config set hookTimeout -1", .usage, "for a value that begins with -, write: -- -1"),
            ("inbox show -1", .usage, "a number cannot be negative"),
            ("send $F/note.txt --to x --timeout -1", .usage, "the value must be positive"),
            ("pair localhost:1 --code 000000", .usage, "other users can see a code among the arguments"),
            ("send --url 'not a url' --to localhost:1", .usage, "the URL cannot be sent"),
            (
                "send $F/note.txt --to kitchen --queue --wait opened", .usage,
                "--wait opened does not go with --queue"
            ),
        ])
        let help = await home.run("send -h file")
        #expect(help.exit == .usage && help.notes == "waft: nothing was done except to print this")
        #expect(await home.run("service").exit == .usage)
    }

    @Test("a name that a terminal would obey is shown escaped, and is not sent")
    func names() async {
        home.folder.file("files/bad\u{1B}[31mname", "x")
        let said = await home.run("send $F/bad\u{1B}[31mname --to 127.0.0.1:1")
        #expect(said.exit == .inputMissing && said.notes.contains("control or direction-changing characters"))
        #expect(!said.notes.contains("\u{1B}"))
    }

    @Test("a receiver that takes nothing declines, and one without room refuses before any byte moves")
    func receivers() async throws {
        let (home, study) = (home, CommandHome("study"))
        try await home.receiving(.none) { address in
            await study.expect([("send $F/note.txt --to \(address)", .declined, "declined")])
        }
        // Sparse: takes no room here.
        study.folder.file("files/huge")
        #expect(truncate(study.files + "/huge", 8 << 40) == 0)
        try await home.receiving { address in
            await study.expect([("send $F/huge --to \(address)", .noRoom, "no room: 8.8 TB offered")])
        }
        #expect(await home.run("inbox").results == "")
        #expect(await home.run("history").results == "")
    }
}
