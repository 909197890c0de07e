import Foundation
import Lines
import Sharing
import TestSupport
import Testing

@testable import CommandLine

@Suite("The verbs for offers, while offers wait", .timeLimit(.minutes(1)))
struct OfferVerbTests {
    private let kitchen = CommandHome()
    private let study = CommandHome("study")

    @Test("accept and decline without a number list the waiting offers with the words to type, and answer none")
    func unnamed() async throws {
        let (kitchen, study) = (kitchen, study)
        try await kitchen.receiving(.ask) { address in
            await kitchen.expect([("accept", .inputMissing, "waft: no offer waits")])
            #expect(await kitchen.run("offers").notes.contains("no offers wait"))
            async let sending = study.run("send $F/note.txt --to \(address)")
            try await kitchen.offer()
            for verb in ["accept", "decline"] {
                let asked = await kitchen.run(verb)
                #expect(asked.exit == .usage && asked.notes.contains("type: waft \(verb) 1"), "\(asked)")
                #expect(asked.notes.contains("offers note.txt") && !asked.notes.contains("<"), "\(asked)")
            }
            #expect(await kitchen.run("decline 1").exit == .done)
            #expect(await sending.exit == .declined)
        }
        #expect(kitchen.stored == [])
    }

    @Test("an offer with more items than the list shows is shown whole by its number")
    func many() async throws {
        let (kitchen, study) = (kitchen, study)
        let names = (1...234).map { "f\($0)" }
        for name in names { study.folder.file("files/" + name, "x") }
        try await kitchen.receiving(.ask) { address in
            let words = names.map { "$F/" + $0 }.joined(separator: " ")
            async let sending = study.run("send \(words) --to \(address)")
            try await kitchen.offer()
            let list = await kitchen.run("offers").results
            #expect(list.contains("\n  and 134 more; all of them: waft offers 1") && !list.contains("f101 "), "\(list)")
            let one = await kitchen.run("offers 1").results
            #expect(one.matches(of: /\n {2}\d+\. f\d+ {2}/).count == 234 && one.contains("\n  234. f234  "), "\(one)")
            #expect(await kitchen.run("decline 1").exit == .done)
            #expect(await sending.exit == .declined)
        }
    }

    @Test("an offer's items can be accepted one by one, and a stranger can be blocked for good")
    func answers() async throws {
        let (kitchen, study) = (kitchen, study)
        try await kitchen.receiving(.ask) { address in
            async let some = study.run("send $F/note.txt $F/1 --to \(address)")
            try await kitchen.offer()
            #expect(await kitchen.run("accept 1 --items 2").exit == .done)
            #expect(await some.exit == .declined)
            async let blocked = study.run("send $F/note.txt --to \(address)")
            try await kitchen.offer()
            #expect(await kitchen.run("decline 2 --block").exit == .done)
            #expect(await blocked.exit == .declined)
            #expect(await study.run("send $F/note.txt --to \(address)").exit == .declined, "nobody is asked any more")
            #expect(await kitchen.run("offers").notes.contains("no offers wait"))
        }
        #expect(kitchen.stored == ["1"])
    }

    @Test("the offer of a contact whose policy allows it is taken without a question, within its limits")
    func contact() async throws {
        let (kitchen, study) = (kitchen, study)
        let id = try #require(await study.run("contacts me --json").results.firstMatch(of: /"id":"([^"]*)"/)?.1)
        let terms = "--policy accept --size-at-most '100 bytes'"
        #expect(await kitchen.run("contacts allow \(id) --name Study \(terms)").exit == .done)
        study.folder.file("files/large", String(repeating: "x", count: 200))
        try await kitchen.receiving(.ask) { address in
            #expect(await study.run("send $F/note.txt --to \(address)").exit == .done)
            async let large = study.run("send $F/large --to \(address)")
            try await kitchen.offer()
            let list = await kitchen.run("offers").results
            #expect(list.contains("1: Study") && !list.contains("stranger"), "\(list)")
            #expect(await kitchen.run("decline 1").exit == .done)
            #expect(await large.exit == .declined)
        }
        #expect(kitchen.stored == ["note.txt"])
    }

    @Test("a stranger who uses the name of a contact is shown with a warning")
    func names() async throws {
        let (kitchen, study) = (kitchen, study)
        #expect(await kitchen.run("contacts allow \(PeerID.sample(2).text) --name study").exit == .done)
        try await kitchen.receiving(.ask) { address in
            async let sending = study.run("send $F/note.txt --to \(address)")
            try await kitchen.offer()
            let list = await kitchen.run("offers")
            #expect(list.results.contains(#"1: stranger "study" ("#), "\(list)")
            #expect(list.results.contains("\n  warning: this is not your contact study: "), "\(list)")
            #expect(await kitchen.run("offers 1").results == list.results)
            #expect(await kitchen.run("decline 1").exit == .done)
            #expect(await sending.exit == .declined)
        }
    }

    @Test("what is accepted into a folder is there, and what is there already stays at its place, with a word")
    func folders() async throws {
        let (kitchen, study) = (kitchen, study)
        try await kitchen.receiving(.ask) { address in
            async let first = study.run("send $F/note.txt --to \(address)")
            try await kitchen.offer()
            let accepted = await kitchen.run("accept 1 --to Deep/er")
            #expect(accepted.results == "offer 1 accepted, into Deep/er", "\(accepted)")
            #expect(await first.exit == .done)
            #expect(await kitchen.run("inbox show 1").results.contains("/Inbox/Deep/er/note.txt"))
            async let again = study.run("send $F/note.txt --to \(address)")
            try await kitchen.offer()
            let repeated = await kitchen.run("accept 2 --to Else")
            #expect(repeated.results == "offer 2 accepted, into Else", "\(repeated)")
            #expect(repeated.notes.hasPrefix("note.txt: already there as note.txt"), "\(repeated)")
            #expect(repeated.notes.contains("waft inbox take 1 FOLDER"), "\(repeated)")
            #expect(await again.exit == .done)
        }
        #expect(kitchen.stored == ["Deep"])
    }
}
