import Foundation
import Lines
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("The verbs of each noun, over one home", .timeLimit(.minutes(1)))
struct VerbTests {
    private let home = CommandHome()

    @Test("contacts are allowed, shown, limited, renamed, blocked and forgotten, each with its line")
    func contacts() async {
        let key = PeerID.sample(1).text
        await home.answer([("contacts allow \(key) --name study", "allowed study  ")])
        await home.answer(
            [
                ("contacts", "study  "), ("contacts list", "  ask"), ("contacts me", "name  kitchen\nid    "),
                ("contacts show study", "policy    ask: you are asked about its offers"),
                ("policy test $F/note.txt --from study", "ask: that is the policy of study"),
                ("policy test $F/note.txt --from study --visible everyone", "note.txt  public.plain-text, 10 bytes"),
            ], isReading: true)
        await home.answer([
            ("contacts set study --types public.image --size-at-most 5M", "ask: public.image, up to 5.0 MB"),
            ("contacts rename study 'other name'", "study is now called other name"),
            ("contacts set 'other name' --types any --policy accept", "accept"),
            ("contacts block 'other name'", "other name"),
            ("contacts group lab add 'other name'", "@lab  other name"), ("contacts group @LAB", "@lab  other name"),
        ])
        await home.expect([
            ("contacts group lab add nobody", .inputMissing, "there is no contact \"nobody\""),
            ("contacts group lap", .inputMissing, "did you mean lab?"),
            ("contacts group lab add", .usage, "give at least one contact"),
            ("contacts group lab delete other", .usage, "delete takes no contacts"),
            ("contacts rename 'other name' @home", .usage, "@ begins the name of a group"),
            ("send $F/note.txt --to @home", .inputMissing, "there is no group \"home\""),
        ])
        await home.answer([("contacts show 'other name'", "up to 5.0 MB in one offer")], isReading: true)
        await home.expect([
            ("contacts allow \(key) --name again", .usage, "this key already belongs to your contact other name")
        ])
        await home.answer([
            ("contacts unblock 'other name'", "other name"), ("contacts forget 'other name'", "other name"),
            ("contacts group", "@lab  no contact any more: "),
        ])
        // The sending names a member that is no contact.
        await home.expect([("send $F/note.txt --to @lab", .inputMissing, "a member of the group lab is no contact")])
        await home.answer([("contacts group lab remove \(key.prefix(12))", "@lab  no members")])
        await home.expect([("send $F/note.txt --to @lab", .usage, "the group lab has no members")])
        await home.answer([("contacts group lab delete", "deleted the group lab")])
        #expect(await home.run("contacts --json").results == "")
    }

    @Test("a lasting visibility and one for a time are chosen, and shown with their end")
    func visibility() async {
        await home.answer([("visible", "contacts")], isReading: true)
        await home.answer([("visible everyone --for 10m", "everyone"), ("visible", "everyone")], isReading: true)
        await home.answer([("visible off", "off")])
        let now = await home.run("visible --json").results
        #expect(now.contains(#""visibility":"off""#) && !now.contains("until"), "\(now)")
    }

    @Test("peers are remembered, replaced and forgotten, and one that does not answer is away")
    func peers() async {
        await home.answer([
            ("peers add hall 127.0.0.1:1", "hall"), ("peers add hall 127.0.0.1:2", "127.0.0.1:1"),
        ])
        let list = await home.run("peers --timeout 0.3 --json")
        #expect(list.results.contains(#""event":"away""#) && list.results.contains("hall"), "\(list)")
        await home.answer([("peers remove hall", "hall")])
        #expect(await home.run("peers remove hall").exit == .inputMissing)
    }

    @Test("settings are written, read, listed with their places, and removed")
    func settings() async throws {
        await home.answer([
            ("config set web.port 7777", "web.port: 7777  (was 7443, the default); no receiver is running"),
            ("config set accept contacts", "accept: contacts  (was ask, the default)"),
        ])
        await home.answer(
            [
                ("config get web.port", "7777"), ("config list", "web.port"), ("config list --all", "hookTimeout"),
                ("config list", "(WAFT_DISCOVERY)"), ("config path", "$H/config/config.yaml"),
            ], isReading: true)
        #expect(await home.run("config check").notes == home.filled("$H/config/config.yaml has no faults"))
        await home.answer([("config unset web.port", "web.port")])
        let text = try String(contentsOfFile: home.folder / "config/config.yaml", encoding: .utf8)
        #expect(text.contains("\naccept: contacts\n") && !text.contains("7777"))
        let schema = await home.run("config schema").results
        let root = try JSONSerialization.jsonObject(with: Data(schema.utf8)) as? [String: Any]
        #expect((root?["properties"] as? [String: Any])?["accept"] != nil)
    }

    @Test("jobs wait in the outbox by their path or as a copy, and are shown, tried, cancelled and removed")
    func outbox() async {
        await home.answer([
            ("send $F/note.txt --to nobody --queue", "1"), ("send $F/trip --to 127.0.0.1:1 --queue --snapshot", "2"),
            ("send --text hello --to 127.0.0.1:1 --queue --expires 2", "3"),
        ])
        await home.answer(
            [
                ("outbox", "1  note.txt → nobody (10 bytes): waits"), ("outbox list --all", "hello.txt → 127.0.0.1:1"),
                ("outbox show 1", "$F/note.txt): to be sent"), ("outbox show 2", "a copy of "),
            ], isReading: true)
        await home.answer([
            ("outbox retry 1", "job 1 is tried when waftd runs"),
            ("outbox cancel 1 2", "job 1 cancelled\njob 2 cancelled"),
            ("outbox remove 1", "job 1 removed"), ("outbox remove --all", "1 job removed"),
        ])
        let left = await home.run("outbox list --all --json").results
        #expect(left.matches(of: /"job":(\d+)/).map { $0.output.1 } == ["3"], "\(left)")
    }

    @Test("a file has its type, a preview, and what can be done with it")
    func documents() async {
        home.folder.file("files/table.tsv", "a\tb\n1\t2\n")
        home.folder.file("files/liar.jpg", "#!/bin/sh\necho hi\n")
        await home.answer(
            [
                ("type $F/note.txt", "public.plain-text"), ("type $F/trip", "public.folder"),
                ("type $F/liar.jpg", "public.jpeg"), ("options $F/note.txt", "preview"),
                ("share $F/note.txt --list", "org.waft.activity.queue"),
            ], isReading: true)
        let dry = await home.run("send $F/note.txt $F/trip --to 127.0.0.1:1 --dry-run")
        #expect(dry.exit == .done && dry.results.contains("note.txt") && dry.results.contains("trip"), "\(dry)")
    }

    @Test("a receiver that runs is shown, is asked by every verb, and has the last word on a visibility")
    func receiver() async throws {
        let home = home
        try await home.receiving { _ in
            await home.answer(
                [
                    ("status", "accepts          everyone"), ("status", "outbox           0 waiting"),
                    ("protection", "not set up"), ("visible", "everyone"),
                ], isReading: true)
            for verb in ["offers", "transfers"] {
                let said = await home.run(verb)
                #expect(said.exit == .done && said.results == "" && !said.notes.isEmpty, "\(said)")
                #expect(await home.run(verb + " --json").results == "")
            }
            await home.answer([("visible contacts", "contacts")])
            await home.answer([("config set logLevel debug", "logLevel: debug")])
            await home.answer([("send $F/note.txt --to nobody --queue", "1"), ("outbox cancel 1", "job 1 cancelled")])
        }
    }

    @Test("what was sent and what has arrived are in the histories of both sides")
    func history() async throws {
        let (home, study) = (home, CommandHome("study"))
        try await home.receiving { address in
            await study.answer([
                ("send $F/note.txt --to \(address)", #"→ stranger "kitchen" ("#),
                ("send --url https://example.org/x --to \(address) --subject plan", "stored as"),
            ])
            let again = await study.run("send $F/note.txt --to \(address) --json")
            let events = again.results.matches(of: /"event":"([a-zA-Z]+)"/).map { $0.output.1 }
            #expect(again.exit == .done && events.last == "done" && events.contains("offered"), "\(again)")
            #expect(await study.run("send $F/1 --to \(address) --quiet").results == "")
        }
        await home.answer(
            [
                ("inbox", #"note.txt from stranger "study" ("#), ("inbox show note.txt", "delivery   no handler asked"),
                ("inbox show 2", "public.url"), ("history", "note.txt"), ("history --limit 2", "example.org.url"),
                ("history --type public.url", ".url"), ("inbox verify", " ok"), ("inbox options note.txt", "take"),
            ], isReading: true)
        await study.answer([("history --sent", "note.txt")], isReading: true)
        #expect(await home.run("inbox cat note.txt").exit == .done)
        await home.answer([
            ("inbox take note.txt $F --dry-run", "note.txt"), ("inbox take note.txt $F", "note.txt"),
            ("inbox remove 2", "removed"),
        ])
        let left = await home.run("history").results
        #expect(left.contains(": taken to ") && left.contains(": removed on "), "\(left)")
    }

    @Test("sealed items are locked until the passphrase is given, and are read, opened for good and sealed again")
    func protection() async throws {
        let (home, study) = (home, CommandHome("study"))
        await home.answer([
            ("protection set-up \(try passphrase("secret words here"))", "protection: unlessOpen")
        ])
        await home.answer(
            [("protection status", "locked: no receiver is running"), ("protection export", "age -d -i $H")],
            isReading: true)
        try await home.receiving { address in
            await study.answer([("send $F/note.txt --to \(address)", "stored as note.txt")])
            await home.answer([("inbox", "(sealed)"), ("inbox show 1", "protection unlessOpen")], isReading: true)
            await home.expect([("inbox cat 1", .locked, "locked")])
            await home.answer([("unlock \(try passphrase("secret words here"))", "unlocked")])
            #expect(await home.run("inbox cat 1").exit == .done)
            await home.answer([
                ("inbox unprotect 1", "note.txt"), ("inbox protect 1 complete", "note.txt"), ("inbox verify", "1 ok"),
                ("lock", "locked"),
            ])
            await home.expect([("inbox take 1 $F", .locked, "it is sealed, and Waft is locked")])
        }
    }

    /// - Returns: the option that reads the passphrase from a pipe.
    private func passphrase(_ text: String) throws -> String { try RefusalStateTests.passphrase(text) }
}
