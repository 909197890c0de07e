import ArgumentParser
import Contacts
import Control
import Digests
import Dispatch
import Inbox
import Journal
import Lines
import Operations
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Commands

@Suite("The words of the Inbox's verbs")
struct InboxVerbTests {
    private let folder = TemporaryFolder()
    /// Contacts of an empty book.
    private var people: Acquaintances { Acquaintances(ContactBook(path: folder / "contacts.yaml")) }

    private func entry(
        _ name: String = "a.txt", state: DeliveryState = .none, departure: Departure? = nil
    ) throws -> JournalEntry {
        let name = try SafeName(name)
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: .file, name: name, type: .plainText, size: 4), size: 4,
            digest: .of(.xxh3_128, Array("text".utf8)), peer: .sample(1), senderName: "study", annotation: [:])
        let stored = StoredItem(name: name, path: "/Inbox/\(name)")
        return JournalEntry(
            arrival: Arrival(number: ArrivalNumber(7), facts: facts, stored: stored),
            arrived: WallTime(milliseconds: 0),
            state: state, departure: departure)
    }

    @Test("a finding is one line: the item and the difference")
    func findings() throws {
        let entry = try entry()
        let changed = ItemFinding(state: .changed, differences: [.size, .mode], detail: "5 bytes instead of 4")
        #expect(FindingText.line(entry, changed) == "7  a.txt: changed: size, mode; 5 bytes instead of 4")
        let rotten = ItemFinding(state: .changed, differences: [.contents])
        #expect(FindingText.line(entry, rotten) == "7  a.txt: changed: contents")
        let touched = ItemFinding(
            state: .changed, differences: [.contents], touched: Timestamp(seconds: 86_400, nanoseconds: 0))
        #expect(FindingText.line(entry, touched).contains("; last touched 1970-01-0"))
        let other = ItemFinding(state: .changed, differences: [.kind], detail: "it is a link now")
        #expect(FindingText.line(entry, other) == "7  a.txt: changed: kind; it is a link now")
        #expect(
            FindingText.line(entry, ItemFinding(state: .unreadable, detail: "bad\u{1B}[2J"))
                == "7  a.txt: unreadable; bad\\u{1B}[2J")
        #expect(FindingText.line(entry, ItemFinding(state: .missing)).hasPrefix("7  a.txt: missing: "))
    }

    @Test("an event of the Inbox is one line: the item, the handler's answer, and how the item left")
    func events() throws {
        let arrival = ArrivalLine(
            try entry("a\u{200B}b.txt").arrival, from: PersonFields(id: PeerID.sample(1).text, name: "study"))
        func line(_ event: ArrivalLine) -> String? { InboxWatch.line(.arrival(event)) }
        func left(_ how: Departure.How, _ toward: String = "") -> ArrivalLine {
            arrival.left(Departure(how, at: .now, toward: toward))
        }
        let head = "7  \(TerminalText.escaped("a\u{200B}b.txt"))"
        #expect(line(arrival)?.hasPrefix("\(head)  4 bytes from stranger \"study\" (") == true)
        #expect(line(arrival.answered(HandlerAnswer(.yes, exitCode: 0))) == "\(head): opened")
        #expect(
            line(arrival.answered(HandlerAnswer(.failed, exitCode: 3)))
                == "\(head): the handler failed; again: waft inbox retry 7")
        #expect(line(left(.taken, "/x\u{7}")) == "\(head): taken to /x\\u{7}")
        #expect(line(left(.handler, "org.example.one")) == "\(head): gone after org.example.one was asked")
        #expect(InboxWatch.line(.ended(ArrivedLine(TransferID(), from: .sample(1), nil))) == nil)
        let removed = left(.removed).json
        #expect(removed.contains(#""event":"removed""#) && removed.contains(#""arrival":7,"#))
        #expect(!removed.contains("toward"))
    }

    @Test("handlers are kept from an item for as long as it takes to leave")
    func keepingAway() throws {
        let renewed = DispatchSemaphore(value: 0)
        let left = try InboxReaders.keepingAway(
            from: ArrivalNumber(7), every: .milliseconds(1), renew: { if $0 == ArrivalNumber(7) { renewed.signal() } }
        ) { () throws(LeavingError) in
            (0..<3).allSatisfy { _ in renewed.wait(timeout: .now() + 60) == .success }
        }
        #expect(left)
    }

    @Test("the last line of the list has the count and the bytes, folders as they arrived")
    func listSummary() throws {
        func row(_ kind: InboxListing.Entry.Kind, _ size: UInt64?, _ known: JournalEntry? = nil) -> InboxRow {
            let entry = InboxListing.Entry(
                name: "a", path: "/Inbox/a", kind: kind, size: size, modified: Timestamp(seconds: 0, nanoseconds: 0))
            return InboxRow(entry: entry, shownName: "a", known)
        }
        #expect(InboxRow.summary([row(.file, 1)]) == "1 item, 1 byte")
        #expect(InboxRow.summary([row(.file, 1), row(.folder, nil, try entry())]) == "2 items, 5 bytes")
        #expect(
            InboxRow.summary([row(.file, 2), row(.folder, nil), row(.link, nil)])
                == "3 items, 2 bytes, without the contents of 1 folder")
    }

    @Test("--numbers takes numbers and ranges, and nothing else")
    func numbers() throws {
        let set = try #require(NumberSet("1-3,7"))
        #expect((0...9).filter { set.contains($0) } == [1, 2, 3, 7])
        for text in ["", "1,", "3-1", "0", "-1", "1-", "1-2-3", "01", "+1", "a", "1 2", "9223372036854775808"] {
            #expect(NumberSet(text) == nil, "\(text)")
        }
    }

    @Test("the closing count names the kinds that exist")
    func summary() {
        #expect(FindingText.summary([:]) == "0 ok")
        #expect(FindingText.summary([.ok: 3]) == "3 ok")
        #expect(
            FindingText.summary([.ok: 1, .missing: 2, .changed: 3, .unreadable: 4])
                == "1 ok, 3 changed, 2 missing, 4 unreadable")
    }

    @Test("history prints how an item left, beside the handler's answer")
    func departures() throws {
        let time = WallTime(milliseconds: 0)
        let taken = try entry(departure: Departure(.taken, at: time, toward: "/home/me/a\u{7}.txt"))
        let line = JournalText.line(taken, people)
        #expect(line.contains(": taken to /home/me/a\\u{7}.txt on "), "\(line)")
        let handled = try entry(state: .yes, departure: Departure(.handler, at: time, toward: "org.example.one"))
        #expect(JournalText.line(handled, people).contains(": opened; gone after org.example.one was asked on "))
        let removed = try entry(state: .gone, departure: Departure(.removed, at: time))
        #expect(JournalText.line(removed, people).contains(": removed on "), "\(JournalText.line(removed, people))")
        #expect(JournalText.lines(removed, people).last?.hasPrefix("  left       removed on ") == true)
        #expect(JournalText.departure(try entry()) == nil)
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
