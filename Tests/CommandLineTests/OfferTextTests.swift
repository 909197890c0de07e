import ArgumentParser
import Control
import Digests
import Foundation
import Lines
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import CommandLine

/// Names and notes with which a stranger could control a terminal.
private let hostile = [
    "\u{1B}[2J\u{1B}[H", "a\nroot offers nothing", "a\r\n1: accepted", "exe\u{202E}gpj.", "\u{9B}31m", "a\u{0}b",
    "\u{2028}x\u{2029}", "\u{200B}\u{FEFF}", "\u{2066}\u{2069}", "\"; rm -rf ~ \"", "\u{7F}\u{85}",
]

extension Offer {
    fileprivate static func of(_ names: [String], from sender: String = "study", note: String? = nil) throws -> Offer {
        let items = try names.map { name in
            OfferedItem(
                kind: name.hasSuffix("/") ? .tree : .file, name: try SafeName(name.replacing("/", with: "")),
                type: uniform(name.hasSuffix("/") ? "public.folder" : "com.adobe.pdf"),
                size: name.hasPrefix("-") ? nil : 1_300_000, entries: name.hasSuffix("/") ? 8 : 1)
        }
        return Offer(items: items, annotation: note.map { ["note": $0] } ?? [:], senderName: sender)
    }
}

private func summary(
    _ offer: Offer, number: Int = 1, asker: Introduction = .stranger("study"), relay: RelayRule = .never
) -> OfferLine {
    var offer = offer
    if !asker.isContact { offer.senderName = asker.name }
    return OfferLine(
        WaitingOffer(number: number, offer: offer, peer: .sample(1), freeRoom: 85_300_000_000), asker, relay: relay)
}

extension Introduction {
    fileprivate static let anna = Introduction(contact: "anna", key: PeerID.sample(1).short)

    fileprivate static func stranger(_ name: String, warning: String? = nil) -> Self {
        Introduction(
            strangerNamed: name, key: PeerID.sample(1).short, unprovenBy: nil,
            claims: warning == nil ? nil : "Anna", warning: warning)
    }
}

extension PersonFields {
    fileprivate static let anna = PersonFields(id: PeerID.sample(1).text, name: "study", contact: "anna")
}

private func settled(_ verdicts: [ItemVerdict]) throws -> ControlEvent {
    let names = verdicts.indices.map { "\($0)" }
    return .answered(AnsweredLine(try .of(names), from: .anna, verdicts, number: 1))
}

private func isPrintable(_ lines: [String]) -> Bool {
    lines.allSatisfy { line in
        line.unicodeScalars.allSatisfy { scalar in
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
    }
}

@Suite("Offers, as people and programs read them")
struct OfferTextTests {
    private let key = PeerID.sample(1).short

    @Test("an offer shows its sender, each item with its type and size, the total and the free room")
    func all() throws {
        let offer = try Offer.of(["report.pdf", "photos/", "-"], note: "as promised")
        #expect(
            OfferText.lines(summary(offer)) == [
                "1: stranger \"study\" (\(key)) offers 3 items, 2.6 MB or more; 85.3 GB free",
                "  note: as promised",
                "  1. report.pdf  PDF document, 1.3 MB",
                "  2. photos  folder, 1.3 MB, 7 things in it",
                "  3. -  PDF document, size not known",
            ])
        #expect(
            OfferText.lines(summary(try .of(["a"]), number: 7, asker: .anna)) == [
                "7: anna ✓ offers 1 item, 1.3 MB; 85.3 GB free", "  a  PDF document, 1.3 MB",
            ])
    }

    @Test("a peer whose name is like a contact's is shown with a warning, in the list and when the offer comes")
    func warnings() throws {
        let liar = summary(try .of(["a"]), asker: .stranger("Anna", warning: "this is not your contact Anna"))
        let warning = "  warning: this is not your contact Anna"
        #expect(OfferText.lines(liar)[1] == warning)
        #expect(
            OfferText.lines(.offer(liar)) == [
                "1: stranger \"Anna\" (\(key), not your contact Anna) offers a, 1.3 MB; 85.3 GB free", warning,
            ])
    }

    @Test("an offer to many says how many, and whether this machine passes it on")
    func groups() throws {
        var offer = try Offer.of(["a"])
        offer.group = OfferedGroup(id: GroupID(), members: 23)
        let silent = summary(offer, relay: .contacts)
        #expect(OfferText.lines(silent)[1] == "  and 22 others")
        #expect(OfferText.question(silent).hasSuffix(" (and 22 others)?"))
        let relaying = summary(offer, asker: .anna, relay: .contacts)
        #expect(OfferText.lines(relaying)[1] == "  and 22 others; your machine passes it on to one other")
        offer.origin.isWireless = true
        #expect(OfferText.lines(summary(offer, relay: .accepted))[1] == "  and 22 others")
    }

    @Test("of many items the first hundred are shown, and how to see the others")
    func many() throws {
        let lines = OfferText.lines(summary(try .of((1...250).map { "file-\($0)" })))
        #expect(lines.count == 102)
        #expect(lines[100] == "  100. file-100  PDF document, 1.3 MB")
        #expect(lines[101] == "  and 150 more; all of them: waft offers 1")
    }

    @Test("watching shows a line when an offer comes, one for its answer, and one for what comes of it")
    func watching() throws {
        let offer = summary(try .of(["report.pdf", "b", "c"]), asker: .anna)
        #expect(
            OfferText.lines(.offer(offer)) == ["1: anna ✓ offers report.pdf and 2 more, 3.9 MB; 85.3 GB free"])
        let no = ItemVerdict(.declined, reason: "the other side said no")
        for (verdicts, words) in [
            ([.accepted, .accepted], "accepted"), ([.accepted, no, no], "1 of 3 items accepted"),
            ([no, no], "declined"),
            ([ItemVerdict(.expired)], "nobody answered in time"),
            ([.unanswered(.senderCancelled)], "the sender cancelled"),
            ([.unanswered(.receiverStopped)], "the receiver is stopping"),
            ([.unanswered(.fault)], "the connection to the sender ended"),
            ([ItemVerdict(.busy, reason: "\u{1B}[2J")], "declined"),
        ] {
            #expect(OfferText.lines(try settled(verdicts)) == ["1: \(words)"])
        }
        let unasked = AnsweredLine(
            try .of(["h.txt", "b"]), from: .anna, [.accepted, .accepted], listsItems: true)
        #expect(
            OfferText.lines(.answered(unasked)) == [
                "anna ✓ sends h.txt and 1 more, 2.6 MB: accepted, as your settings say"
            ])
        let fault = ControlEvent.ended(
            ArrivedLine(TransferID(), from: .sample(1), TransferError(.interrupted, "x")))
        #expect(OfferText.lines(fault) == ["a transfer from \(key) ended: x"])
        #expect(OfferText.lines(.ready(.sample)).isEmpty)
    }

    @Test("nothing that a peer says moves the cursor, hides or starts a line, and its key is never cut off")
    func hostileText() throws {
        for text in hostile {
            var offer = try Offer.of(["a", "b"], from: text, note: text)
            offer.items[0].type = uniform("public.data")
            var shown = summary(offer, asker: .stranger(text, warning: text))
            // Longer than a name can be: the line comes from the receiver, which is not trusted either.
            shown.items[0].name = text
            shown.items[0].type = text
            for lines in [OfferText.lines(shown), OfferText.lines(.offer(shown))] {
                #expect(isPrintable(lines), "\(lines)")
                #expect(lines[0].contains("(\(key), not your contact Anna) offers"))
            }
            shown.from = PersonFields(id: text, name: text, claims: text)
            #expect(isPrintable(OfferText.lines(shown) + OfferText.lines(.offer(shown))))
        }
        let longest = String(repeating: "\u{10FFFD}", count: 15)
        let lines = OfferText.lines(.offer(summary(try .of(["a"]), asker: .stranger(longest, warning: longest))))
        #expect(lines[0].contains("(\(key), not your contact Anna) offers a, "))
    }

    @Test("--json prints the events of waft receive, one a line, with all that is needed to answer")
    func json() throws {
        let offer = try Offer.of(["report.pdf", "photos/"], from: "Anna", note: "hi\u{1B}[2J\n")
        let summary = summary(offer, number: 3, asker: .stranger("Anna", warning: "not\nyour Anna"))
        let line = TerminalText.escaped(json: ControlEvent.offer(summary).line.json)
        #expect(isPrintable([line]))
        let event = try document(line)
        #expect(event["v"] as? Int == 1)
        #expect(event["event"] as? String == "offer")
        #expect(event["offer"] as? Int == 3)
        #expect(event["count"] as? Int == 2)
        #expect(event["size"] as? UInt64 == 2_600_000)
        #expect(event["free"] as? UInt64 == 85_300_000_000)
        #expect(event["transfer"] as? String == offer.transfer.text)
        #expect(event["warning"] as? String == "not\nyour Anna")
        #expect(event["note"] as? String == "hi\u{1B}[2J\n")
        #expect(
            event["from"] as? [String: String] == ["id": PeerID.sample(1).text, "name": "Anna", "claims": "Anna"])
        let items = try #require(event["items"] as? [[String: Any]])
        #expect(items.map { $0["name"] as? String } == ["report.pdf", "photos"])
        #expect(items.map { $0["item"] as? Int } == [0, 1])
        #expect(items[1]["entries"] as? Int == 8)

        let contact = try document(ControlEvent.offer(Self.known(offer)).line.json)
        #expect((contact["from"] as? [String: String])?["contact"] == "anna")
        #expect(contact["warning"] == nil)
    }

    private static func known(_ offer: Offer) -> OfferLine { summary(offer, asker: .anna) }

    @Test("--json prints the answers and the other events, as waft receive does")
    func otherEvents() throws {
        let answered = try document(
            try settled([.accepted, ItemVerdict(.declined, reason: "the other side said no")]).line.json)
        #expect(answered["event"] as? String == "answered")
        #expect(answered["offer"] as? Int == 1)
        #expect(answered["acceptedCount"] as? Int == 1)
        let answers = try #require(answered["answers"] as? [[String: Any]])
        #expect(answers.map { $0["answer"] as? String } == ["accepted", "declined"])
        #expect(answers.map { $0["reason"] as? String } == [nil, "the user said no"])

        let ready = try document(ControlEvent.ready(.sample).line.json)
        #expect(ready["event"] as? String == "ready" && ready["port"] as? Int == 9_238)
        for (fault, name) in [(nil, "done"), ("cut", "failed")] as [(String?, String)] {
            let ended = try document(
                ArrivedLine(TransferID(), from: .sample(1), fault.map { TransferError(.interrupted, $0) }).json)
            #expect(ended["event"] as? String == name)
            #expect(ended["reason"] as? String == fault)
        }
        var arrival = ArrivalLine(try .sample(), from: .anna)
        arrival.content = "lying"
        let stored = try document(arrival.json)
        #expect(stored["event"] as? String == "stored")
        #expect(stored["path"] as? String == "/in/a-1.pdf")
        #expect(stored["arrival"] as? Int == 12)
        let sender = ["id": PeerID.sample(1).text, "name": "study", "contact": "anna"]
        #expect(stored["from"] as? [String: String] == sender)
        #expect(answered["from"] as? [String: String] == sender)
        #expect(stored["content"] as? String == "lying")
        let names = [("yes", "opened"), ("later", "deferred"), ("no", "failed"), ("failed", "failed")]
        for (answer, name) in names {
            let state = try #require(HandlerAnswer.State(rawValue: answer))
            let opened = try document(arrival.answered(HandlerAnswer(state, exitCode: 3)).json)
            #expect(opened["event"] as? String == name)
            #expect(opened["handlerAnswer"] as? String == answer)
            #expect(opened["exitCode"] as? Int == 3)
        }
    }

    @Test("waft offers --watch prints an arrival in the words of waft receive")
    func sameWords() throws {
        let arrival = try Arrival.sample()
        let event = try document(ArrivalLine(arrival, from: .anna).json)
        #expect(
            Set(event.keys) == [
                "v", "event", "from", "via", "transfer", "arrival", "item", "name", "stored", "path", "type", "size",
                "digest",
            ])
    }

    @Test("a number and --watch do not go together", arguments: [["1", "--watch"], ["one"], ["--watch", "all"]])
    func usage(words: [String]) {
        #expect(throws: (any Error).self) { try WaftCommand.parseAsRoot(["offers"] + words) }
    }

    private func document(_ line: String) throws -> [String: Any] {
        #expect(!line.contains("\n"))
        holdContract([line])
        return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
}

extension ReadyLine {
    fileprivate static let sample = Self(
        id: PeerID.sample(1).text, name: "kitchen", port: 9_238, inbox: "/in", visibility: "everyone")
}

extension Arrival {
    fileprivate static func sample() throws -> Arrival {
        let offer = try Offer.of(["a.pdf"])
        return Arrival(
            number: ArrivalNumber(12),
            facts: ArrivalFacts(
                transfer: offer.transfer, itemNumber: 0, itemsInOffer: 1, item: offer.items[0], size: 5,
                digest: .of(.xxh3_128, Array("hello".utf8)), peer: .sample(1), senderName: "study", annotation: [:]),
            stored: StoredItem(name: try SafeName("a-1.pdf"), path: "/in/a-1.pdf"))
    }
}
