import ArgumentParser
import Digests
import Lines
import Operations
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import CommandLine

@Suite("The words of the Inbox's verbs")
struct InboxVerbTests {
    private let time = LineTime(milliseconds: 0)

    private func item(_ name: String = "a.txt") throws -> (arrival: Arrival, name: ItemName) {
        let name = try SafeName(name)
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: .file, name: name, type: .plainText, size: 4), size: 4,
            digest: .of(.xxh3_128, Array("text".utf8)), peer: .sample(1), senderName: "study", annotation: [:])
        let arrival = Arrival(
            number: ArrivalNumber(7), facts: facts, stored: StoredItem(name: name, path: "/Inbox/\(name)"))
        return (arrival, ItemName(arrival))
    }

    @Test("a finding is one line: the item and the difference")
    func findings() throws {
        let item = try item().name
        func changed(_ differences: [String], _ reason: String? = nil, touched: LineTime? = nil) -> [String] {
            ChangedLine(item, differences: differences, reason: reason, touched: touched).words
        }
        #expect(
            changed(["size", "mode"], "5 bytes instead of 4") == [
                "7  a.txt: changed: size, mode; 5 bytes instead of 4"
            ])
        #expect(changed(["contents"]) == ["7  a.txt: changed: contents"])
        #expect(
            changed(["contents"], touched: LineTime(milliseconds: 86_400_000))[0].contains("; last touched 1970-01-0"))
        #expect(
            changed(["kind"], "it is a link now", touched: time) == ["7  a.txt: changed: kind; it is a link now"])
        #expect(UnreadableLine(item, reason: "bad\u{1B}[2J").words == ["7  a.txt: unreadable; bad\\u{1B}[2J"])
        #expect(MissingLine(item, reason: nil).words[0].hasPrefix("7  a.txt: missing: "))
        #expect(AbsentLine(item, reason: "removed").problems == ["7  a.txt: removed"])
        #expect(AbsentLine(wanted: "b", reason: "nothing").problems == ["nothing"])
    }

    @Test("an event of the Inbox is one line: the item, the handler's answer, and how the item left")
    func events() throws {
        let arrival = ArrivalLine(
            try item("a\u{200B}b.txt").arrival, from: PersonFields(id: PeerID.sample(1).text, name: "study"))
        func words(_ event: ArrivalLine) -> String { InboxListCommand.words(event) }
        func left(_ how: Departure.How, _ toward: String = "") -> ArrivalLine {
            arrival.left(Departure(how, at: .now, toward: toward))
        }
        let head = "7  \(TerminalText.escaped("a\u{200B}b.txt"))"
        #expect(words(arrival).hasPrefix("\(head)  4 bytes from stranger \"study\" ("))
        #expect(words(arrival.answered(HandlerAnswer(.yes, exitCode: 0))) == "\(head): opened")
        #expect(
            words(arrival.answered(HandlerAnswer(.failed, exitCode: 3)))
                == "\(head): the handler failed; again: waft inbox retry 7")
        #expect(words(left(.taken, "/x\u{7}")) == "\(head): taken to /x\\u{7}")
        #expect(words(left(.handler, "org.example.one")) == "\(head): gone after org.example.one was asked")
        let removed = left(.removed).json
        #expect(removed.contains(#""event":"removed""#) && removed.contains(#""arrival":7,"#))
        #expect(!removed.contains("toward"))
    }

    @Test("an item that leaves is one line, and its problems are others")
    func leaving() throws {
        let item = try item().name
        let taken = TakenLine(item, toward: "/out/a.txt", remarks: ["one\u{7}", "two"])
        #expect(taken.words == ["7  a.txt: \(Glyph.arrow) /out/a.txt"] && taken.problems == ["one\\u{7}", "two"])
        #expect(RemovedLine(item).words == ["7  a.txt: removed"])
        #expect(RemovedLine(item, wasGone: true).words == ["7  a.txt: it was gone already"])
        #expect(taken.json.contains(#""exit":1"#) && taken.json.contains(#""reason":"one\u0007; two""#))
    }

    @Test("the last line of the list has the count and the bytes, folders as they arrived")
    func listSummary() {
        func line(_ form: String, _ bytes: UInt64?, arrival: Int64? = nil) -> EntryLine {
            var line = EntryLine(
                stored: "a", path: "/Inbox/a", kind: form, form: form, shownName: "a", modified: time)
            (line.bytes, line.arrival) = (bytes, arrival)
            return line
        }
        #expect(EntryLine.summary([line("file", 1)]) == "1 item, 1 byte")
        #expect(EntryLine.summary([line("file", 1), line("folder", 4, arrival: 7)]) == "2 items, 5 bytes")
        #expect(
            EntryLine.summary([line("file", 2), line("folder", nil), line("link", nil)])
                == "3 items, 2 bytes, without the contents of 1 folder")
    }

    @Test("the closing count names the kinds that exist")
    func summary() {
        var line = VerifiedLine()
        #expect(line.words == ["0 ok"])
        line.exit = .inputMissing
        #expect(line.words == [])
        (line.ok, line.locked) = (3, 2)
        #expect(line.words == ["3 ok (2 sealed)"])
        (line.missing, line.changed, line.unreadable, line.summed) = (2, 3, 4, 1)
        #expect(line.words == ["3 ok (2 sealed), 3 changed, 2 missing, 4 unreadable"])
        #expect(line.remarks.count == 2)
    }

    @Test("history prints how an item left, beside the handler's answer")
    func departures() throws {
        let item = try item().arrival
        func line(_ delivery: String, _ how: Departure.How, _ toward: String = "") -> JournalLine {
            var line = JournalLine(
                item, from: PersonFields(name: "study"), arrived: time.time, delivery: delivery)
            line.left = JournalLine.Departure(Departure(how, at: time.time, toward: toward))
            return line
        }
        let taken = line("none", .taken, "/home/me/a\u{7}.txt").words[0]
        #expect(taken.contains(": taken to /home/me/a\\u{7}.txt on "), "\(taken)")
        let handled = line("yes", .handler, "org.example.one").words[0]
        #expect(handled.contains(": opened; gone after org.example.one was asked on "), "\(handled)")
        let removed = line("gone", .removed)
        #expect(removed.words[0].contains(": removed on "), "\(removed.words)")
        #expect(removed.details.last?.hasPrefix("  left       removed on ") == true)
    }

    @Test("take needs an arrival and a folder, and --name one arrival alone")
    func arguments() throws {
        for words in [["take"], ["take", "1"], ["take", "1", "2", "dir", "--name", "x"], ["remove"], ["open"]] {
            #expect(throws: (any Error).self, "\(words)") { try InboxCommand.parseAsRoot(words) }
        }
        let parsed = try InboxCommand.parseAsRoot(["take", "1", "b", "dir"])
        #expect((parsed as? InboxTakeCommand)?.words == ["1", "b", "dir"])
        #expect((try InboxCommand.parseAsRoot(["verify"]) as? InboxVerifyCommand)?.arrivals == [])
    }
}
