import Foundation
import Glibc
import Lines
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("Refusals of command lines for want of the right state", .timeLimit(.minutes(1)))
struct RefusalStateTests {
    private let home = CommandHome()

    @Test("a setting keeps its value when the new one, or the whole file, has a fault")
    func settings() async throws {
        await home.expect([
            Refusal(
                "config get nonsense", "config set nonsense x", "config unset nonsense", exit: .usage,
                #"waft: there is no setting "nonsense"; all: waft config list --all"#),
            Refusal(
                "config get nam", exit: .usage,
                #"waft: there is no setting "nam"; did you mean name? All: waft config list --all"#),
            Refusal(
                "config set webPort 7777", exit: .usage,
                #"waft: there is no setting "webPort"; did you mean web.port? All: waft config list --all"#),
            Refusal(
                "config set name", exit: .usage,
                """
                waft: a value is missing; name should be 1 to 63 bytes of text
                  for the default: waft config unset name
                """),
            Refusal("config set name ''", exit: .usage, "waft: name should be 1 to 63 bytes of text"),
            Refusal(
                "config set port x", exit: .usage, #"waft: port should be a port number, 1 to 65535, and is "x""#),
            Refusal(
                "config set port 70000", exit: .usage,
                #"waft: port should be a port number, 1 to 65535, and is "70000""#),
            Refusal(
                "config set dialects.airdrop.radio relative/helper", exit: .usage,
                "waft: dialects.airdrop.radio should be auto, off or the absolute path of a helper, "
                    + #"and is "relative/helper""#),
            Refusal(
                "config set hook /nowhere/hook", exit: .usage,
                """
                waft: the hook /nowhere/hook does not exist; items wait for it; nothing was changed
                  if it comes later, for example with its disk: --anyway
                """),
            Refusal("config check $F/nothing.yaml", exit: .inputMissing, "waft: there is no file $F/nothing.yaml"),
        ])
        #expect(!FileManager.default.fileExists(atPath: home.folder / "config/config.yaml"))
    }

    @Test("with a fault in config.yaml, verbs that need the settings refuse, and the others warn")
    func faults() async throws {
        let faults = """
              line 2: name stands here again; line 1 has it already
              line 3: unknown setting "nonsense"; all: waft config list --all
              line 4: port should be a port number, 1 to 65535, and is "many"
            """
        let file = home.folder / "config/config.yaml"
        try home.configure("name: x\nname: y\nnonsense: 3\nport: many\n")
        await home.expect([
            Refusal(
                "config check", "config list", "send $F/note.txt --to 127.0.0.1:1", "share $F/note.txt --list",
                "policy test $F/note.txt --from nobody", exit: .usage, "waft: \(file)\n\(faults)"),
            Refusal("--port 0", exit: .usage, "waft: \(file)\n\(faults)").ofDaemon,
            Refusal(
                "status", "transfers", "lock", exit: .notRunning,
                """
                warning: the settings are not used: \(file)
                \(faults)
                waft: no receiver is running here (nothing listens on $H/run/control)
                  start one with: waftd, or: waft receive
                """),
            Refusal(
                "config set name good", "config set name good --anyway", exit: .unexpected,
                "waft: name stands in \(file) in a way that cannot be changed safely; see: waft config edit"),
        ])
        #expect(await home.run("inbox").exit == .done)
        #expect(await home.run("outbox").exit == .done)
    }

    @Test("a contact is changed by values that can be read, and gets no second name or key")
    func contacts() async throws {
        let own = try #require(await home.run("contacts me --json").results.firstMatch(of: /"id":"([^"]*)"/)?.1)
        #expect(await home.run("contacts allow \(PeerID.sample(1).text) --name study").exit == .done)
        await home.expect([
            Refusal(
                "contacts allow \(own) --name other", exit: .usage,
                "waft: this is the key of this machine itself; the id of the other one is needed"),
            Refusal(
                "contacts rename stdy x", exit: .inputMissing,
                """
                waft: there is no contact "stdy"; did you mean study?
                  see: waft contacts
                """),
            Refusal("contacts rename study ''", exit: .usage, "waft: a contact's name has 1 to 63 bytes"),
            Refusal(
                "contacts set study --policy nonsense", exit: .usage,
                """
                waft: the value 'nonsense' is invalid for --policy. Please provide one of 'accept', 'ask' or 'decline'
                  see: waft contacts set --help
                """),
            Refusal(
                "contacts set study --types nonsense", exit: .usage,
                #"waft: --types: "nonsense" is not a uniform type identifier such as public.image or com.adobe.pdf"#),
            Refusal(
                "contacts set study --size-at-most x", exit: .usage,
                #"waft: --size-at-most: "x" is not a size such as 500 kB, 64 MiB or 1.5 GB"#),
            Refusal(
                "contacts set study --for x", exit: .usage,
                #"waft: --for: "x" is not a duration such as 90s, 10m, 2h or 30d"#),
        ])
    }

    @Test("a job that is not there, or that has ended, is left alone, and the others of the command are not")
    func outbox() async {
        let noJob = "waft: there is no job 99 in the outbox\n  see: waft outbox list --all"
        await home.expect([
            Refusal(
                "outbox show x", exit: .usage,
                """
                waft: the value 'x' is invalid for the job
                  see: waft outbox show --help
                """),
            Refusal(
                "outbox remove", "outbox remove 1 --all", exit: .usage,
                """
                waft: give the numbers of jobs, or --all
                  see: waft outbox remove --help
                """),
        ])
        for _ in 1...2 { #expect(await home.run("send $F/note.txt --to nobody --queue").exit == .done) }
        #expect(await home.run("outbox cancel 2 99").results == "job 2 cancelled")
        await home.expect([
            Refusal(
                "outbox show 99", "outbox cancel 99", "outbox retry 1 99", "outbox remove 99", exit: .inputMissing,
                noJob),
            Refusal("outbox retry 99 99", exit: .inputMissing, noJob + "\n" + noJob),
            Refusal("outbox cancel 2", exit: .usage, "waft: job 2 is finished; there is nothing to cancel"),
            Refusal(
                "outbox remove 1", exit: .usage, "waft: job 1 waits to be sent; to end it: waft outbox cancel 1"),
        ])
        #expect(await home.run("outbox list --all").results.split(separator: "\n").count >= 2)
    }

    @Test("an item of the Inbox is refused for the reason that stands against the verb")
    func inbox() async throws {
        let (home, study) = (home, CommandHome("study"))
        try await home.receiving { address in
            for file in ["note.txt", "trip", "1"] {
                #expect(await study.run("send $F/\(file) --to \(address)").exit == .done)
            }
            await home.expect([
                Refusal(
                    "inbox retry note.txt", exit: .unexpected,
                    "waft: item 1: no handler for this type: Plain text document (public.plain-text)")
            ])
            let unopened = await study.run("send $F/note.txt --wait opened --to \(address)")
            #expect(unopened.exit == .handlerSaidNo)
            #expect(
                unopened.notes.hasSuffix(", but no handler was asked"), "\(unopened)")
        }
        await home.expect([
            Refusal(
                "inbox show 1", exit: .usage,
                """
                waft: 1 is the number of note.txt, and the name of item 3
                  write ./note.txt, or ./1
                """),
            Refusal(
                "inbox show 99", exit: .inputMissing,
                """
                waft: no item is named or numbered "99"
                  see: waft history
                """),
            Refusal(
                "inbox cat trip", exit: .usage,
                """
                waft: 2  trip: it is a folder
                  take it out with: waft inbox take
                """
            ).withoutJSON,
            Refusal("inbox verify note.txt 99", exit: .inputMissing, #"waft: no item is named or numbered "99""#)
                .withoutJSON,
            Refusal(
                "inbox protect note.txt complete", exit: .usage,
                """
                waft: data protection is not set up
                  set it up with: waft protection set-up
                """),
            Refusal(
                "inbox open-in note.txt nothing", exit: .usage,
                "waft: 1  note.txt: nothing does not open public.plain-text"),
            Refusal(
                "inbox take note.txt /nowhere/at/all", exit: .inputMissing,
                "waft: cannot take note.txt to /nowhere/at/all: there is no such folder"),
        ])
        #expect(await home.run("inbox remove trip --yes").exit == .done)
        let again = await home.run("inbox remove trip --yes")
        #expect(again.exit == .inputMissing && again.notes.hasPrefix("waft: 2  trip: removed on "), "\(again)")
    }

    @Test("an offer that is not there has no answer, and one that is there is answered within its items")
    func offers() async throws {
        let study = CommandHome("study")
        let home = home
        try await home.receiving(.ask) { address in
            async let sending = study.run("send $F/note.txt $F/trip --to \(address)")
            try await home.offer()
            await home.expect([
                Refusal(
                    "offers list 9", "accept 9", "decline 9", exit: .inputMissing,
                    """
                    waft: no offer 9 waits for an answer
                      see: waft offers
                    """),
                Refusal(
                    "offers preview 1.1", exit: .inputMissing,
                    """
                    waft: item 1 of offer 1 has no preview
                      see: waft offers
                    """),
                Refusal(
                    "offers preview 1.7", "accept 1 --items 7", exit: .inputMissing,
                    """
                    waft: offer 1 has no item 7
                      see: waft offers
                    """),
                Refusal(
                    "accept 1 --to ../x", exit: .usage,
                    #"waft: --to: "../x" is not a folder below the Inbox: the name is . or .."#),
                Refusal("transfers cancel abc", exit: .inputMissing, "waft: no transfer abc is moving"),
                Refusal("--port 0", exit: .usage, Self.isRunning).ofDaemon,
            ])
            #expect(await home.run("decline 1").exit == .done)
            #expect(await sending.exit == .declined)
        }
    }

    private static let isRunning = """
        waft: a receiver is running already for this user and home (it listens on $H/run/control)
          to answer its offers here: waft offers --watch, then waft accept N; to start another one: stop it first, \
        or set another WAFT_HOME
        """

    @Test("a sealed item is refused while Waft is locked, and a wrong passphrase does not unlock it")
    func protection() async throws {
        let (home, study) = (home, CommandHome("study"))
        #expect(await home.run("protection set-up \(try Self.passphrase("secret words here"))").exit == .done)
        try await home.receiving { address in
            #expect(await study.run("send $F/note.txt --to \(address)").exit == .done)
            await home.expect([
                Refusal(
                    "inbox protect note.txt complete", exit: .locked,
                    """
                    waft: cannot change the protection of note.txt: Waft is locked
                      unlock it with: waft unlock
                    """),
                Refusal(
                    "inbox take note.txt $F", "inbox preview note.txt", exit: .locked,
                    """
                    waft: cannot open note.txt: it is sealed, and Waft is locked
                      unlock it with: waft unlock
                    """),
                Refusal(
                    "inbox cat note.txt", exit: .locked,
                    """
                    waft: cannot read note.txt: it is sealed, and Waft is locked
                      unlock it with: waft unlock
                    """
                ).withoutJSON,
                Refusal("unlock \(try Self.passphrase("wrong"))", exit: .locked, "waft: the passphrase is wrong")
                    .withoutJSON,
            ])
        }
    }

    /// - Returns: the option that reads the passphrase from a pipe.
    static func passphrase(_ text: String) throws -> String {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        _ = write(ends[1], text + "\n", text.utf8.count + 1)
        close(ends[1])
        return "--passphrase-fd \(ends[0])"
    }
}
