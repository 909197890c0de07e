import Foundation
import Glibc
import Lines
import TestSupport
import Testing

@testable import CommandLine

@Suite("The verbs of the Inbox, over items that have arrived", .timeLimit(.minutes(1)))
struct ArrivedItemsTests {
    /// A home that has received files of these names, as the items 1, 2, …, each with its name as its line.
    private func kitchen(_ names: String...) async throws -> CommandHome {
        let (kitchen, study) = (CommandHome(), CommandHome("study"))
        for name in names {
            let folder = URL(fileURLWithPath: study.files + "/" + name).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            study.folder.file("files/" + name, name + "\n")
        }
        let items = names.map { "$F/" + ($0.split(separator: "/").first ?? "") }.joined(separator: " ")
        try await kitchen.receiving { address in
            let sent = await study.run("send --to \(address) -- \(items)")
            try #require(sent.exit == .done, "\(sent)")
        }
        try FileManager.default.createDirectory(atPath: kitchen.files + "/out", withIntermediateDirectories: true)
        return kitchen
    }

    @Test("an item whose name looks like a pattern, a number, a range or an option is removed alone, by its name")
    func names() async throws {
        let names = ["*", "1", "1-99", "--all", "[a-z]", "b"]
        let kitchen = try await kitchen("*", "1", "1-99", "--all", "[a-z]", "b")
        await kitchen.expect([
            ("inbox remove b 1", .usage, "1 is the number of *, and the name of item 2")
        ])
        #expect(kitchen.stored == names.sorted(), "wrong usage removes nothing")
        // The item with the number 1 has left when the one of that name is removed.
        for (number, word) in ["*", "1", "1-99", "-- --all", "[a-z]"].enumerated() {
            let removed = await kitchen.run("inbox remove \(word)")
            #expect(removed.exit == .done, "\(removed)")
            #expect(kitchen.stored == names.dropFirst(number + 1).sorted(), "\(word)")
        }
        await kitchen.expect(
            ["?", "6-6", "5,6", "06", "../sources/b"].map {
                ("inbox remove \($0)", .inputMissing, "no item is named or numbered")
            })
        #expect(kitchen.stored == ["b"])
        #expect(await kitchen.run("inbox remove $H/Documents/../Documents/Inbox/b").exit == .done)
        #expect(kitchen.stored == [])
    }

    @Test("options select items for take, remove and open-in; --dry-run lists them, and remove needs --yes")
    func options() async throws {
        let kitchen = try await kitchen("f1.txt", "f2.txt", "g.txt", "f3.md")
        let shown = await kitchen.run("inbox remove --match f*.txt --dry-run --json")
        #expect(shown.results.matches(of: /"stored":"([^"]*)"/).map { $0.output.1 } == ["f1.txt", "f2.txt"])
        await kitchen.expect([
            ("inbox remove --match f*.txt", .usage, "waft: 2 items, 14 bytes would be removed: --yes"),
            ("inbox remove --match f*.txt 2", .usage, "waft: "), ("inbox remove --numbers 4-1 --yes", .usage, "waft: "),
            ("inbox remove --match none* --yes", .inputMissing, "no item in the Inbox is selected"),
            ("inbox open-in --numbers 1-2", .usage, "waft: "),
        ])
        #expect(kitchen.stored.count == 4)
        let taken = await kitchen.run("inbox take --numbers 1,3-9 --match *.txt $F/out")
        #expect(taken.exit == .done && taken.results.split(separator: "\n").count == 2, "\(taken)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: kitchen.files + "/out").sorted() == ["f1.txt", "g.txt"])
        let removed = await kitchen.run("inbox remove --from study --since 1h --match *.txt --yes")
        #expect(removed.results == "2  f2.txt: removed", "\(removed)")
        #expect(kitchen.stored == ["f3.md"])
    }

    @Test("a filter without a meaning is refused in one line, with the values that have one")
    func filters() async throws {
        let kitchen = try await kitchen("a.txt")
        for verb in ["inbox list", "history"] {
            await kitchen.expect([
                ("\(verb) --type png", .usage, "its type is public.png"),
                ("\(verb) --state lost", .usage, "none, waiting, deferred, yes, no,"),
                ("\(verb) --since '2 days'", .usage, "such as 90s, 10m, 2h or 30d"),
                ("\(verb) --from anna", .usage, #"the senders are: stranger "study" ("#),
            ])
        }
        await kitchen.expect([("history --sent --state no", .usage, "are for received items only")])
    }

    @Test("verify finds changed and missing items, and knows the taken and removed ones")
    func verify() async throws {
        let kitchen = try await kitchen("a.txt", "tree/c", "b.txt", "c.txt")
        let inbox = kitchen.root + "/Documents/Inbox"
        let good = await kitchen.run("inbox verify")
        #expect(good.exit == .done && good.results == "4 ok", "\(good)")
        chmod(inbox + "/tree/c", 0o644)
        try "tree/d\n".write(toFile: inbox + "/tree/c", atomically: false, encoding: .utf8)
        unlink(inbox + "/b.txt")
        let bad = await kitchen.run("inbox verify")
        #expect(bad.exit == .contentChanged && bad.results.contains("2  tree: changed: contents"), "\(bad)")
        #expect(
            bad.results.contains("3  b.txt: missing") && bad.results.hasSuffix("2 ok, 1 changed, 1 missing"), "\(bad)")
        let documents = await kitchen.run("inbox verify --json").results
        #expect(documents.matches(of: /"event":"([a-z]+)"/).map { $0.output.1 } == ["changed", "missing", "verified"])
        #expect(await kitchen.run("inbox verify 1 c.txt").results == "2 ok")

        #expect(await kitchen.run("inbox take 1 $F/out").exit == .done)
        #expect(await kitchen.run("inbox remove tree b.txt").exit == .done)
        #expect(await kitchen.run("inbox verify").results == "1 ok")
        #expect(await kitchen.run("inbox verify 1").exit == .inputMissing)
        #expect(await kitchen.run("inbox remove c.txt").exit == .done)
        #expect(await kitchen.run("inbox remove c.txt").exit == .inputMissing)
        #expect(await kitchen.run("inbox verify").results == "0 ok")
        let history = await kitchen.run("history").results
        #expect(
            history.contains("taken to \(kitchen.files)/out/a.txt") && history.contains("removed on"), "\(history)")
        #expect(try String(contentsOfFile: kitchen.files + "/out/a.txt", encoding: .utf8) == "a.txt\n")
    }

    @Test("an item that has left cannot be given to its handler again, and one that was moved keeps its number")
    func left() async throws {
        let kitchen = try await kitchen("a.txt")
        let (inbox, study) = (kitchen.root + "/Documents/Inbox", CommandHome("study"))
        try FileManager.default.moveItem(atPath: inbox + "/a.txt", toPath: kitchen.files + "/moved.txt")
        try await kitchen.receiving { address in
            study.folder.file("files/a.txt", "new\n")
            #expect(await study.run("send $F/a.txt --to \(address)").exit == .done)
            #expect(await kitchen.run("inbox take 1 $F/out").exit == .inputMissing)
            #expect(await kitchen.run("inbox remove 1").results == "1  a.txt: it was gone already")
            await kitchen.expect([("inbox retry 1", .inputMissing, "item 1 has left the Inbox")])
        }
        #expect(try String(contentsOfFile: inbox + "/a.txt", encoding: .utf8) == "new\n")
        #expect(await kitchen.run("inbox verify").results == "1 ok")
    }

    @Test("the list has the newest item last, and items of another hand first, whatever time a file has")
    func list() async throws {
        let (kitchen, study) = (try await kitchen("z.txt", "a.txt"), CommandHome("study"))
        let old = study.folder.file("files/old.txt", "old\n")
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: old)
        try await kitchen.receiving { address in
            #expect(await study.run("send \(old) --to \(address)").exit == .done)
        }
        kitchen.folder.file("Documents/Inbox/mine.txt")
        let lines = await kitchen.run("inbox").results.split(separator: "\n")
        #expect(lines.first == "No.        Size  Arrived              Item")
        let items = ["mine.txt", "z.txt from", "a.txt from", "old.txt from"]
        #expect(lines.count == 6 && zip(lines.dropFirst(), items).allSatisfy { $0.contains($1) }, "\(lines)")
        #expect(!lines.contains { $0.contains("1970") }, "\(lines)")
        let last = try #require(await kitchen.run("inbox --since 1h --json").results.split(separator: "\n").last)
        #expect(last.contains(#""modified":"1970-01-01"#) && last.contains(#""arrived":"20"#), "\(last)")
    }

    @Test("an item that its user has renamed in the Inbox is the same item, with a receiver and without one")
    func renamed() async throws {
        let kitchen = try await kitchen("a.txt", "b.txt")
        let (inbox, files) = (kitchen.root + "/Documents/Inbox", FileManager.default)
        try await kitchen.receiving { _ in
            try files.createDirectory(atPath: inbox + "/done", withIntermediateDirectories: true)
            try files.moveItem(atPath: inbox + "/a.txt", toPath: inbox + "/done/first.txt")
            let shown = await kitchen.run("inbox show first.txt --json").results
            #expect(shown.contains(#""arrival":1,"#) && shown.contains("/Inbox/done/first.txt"), "\(shown)")
            #expect(await kitchen.run("inbox verify").exit == .done)
            #expect(await kitchen.run("inbox show a.txt").exit == .inputMissing)
        }
        try files.moveItem(atPath: inbox + "/done/first.txt", toPath: inbox + "/b2.txt")
        try files.moveItem(atPath: inbox + "/b.txt", toPath: inbox + "/done/first.txt")
        let listed = await kitchen.run("inbox list").results
        #expect(listed.contains(/1 .* b2\.txt/), "\(listed)")
        #expect(await kitchen.run("inbox take 2 $F/out").exit == .done)
        #expect(try String(contentsOfFile: kitchen.files + "/out/first.txt", encoding: .utf8) == "b.txt\n")
        #expect(await kitchen.run("inbox remove b2.txt").exit == .done)
    }
}
