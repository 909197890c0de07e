import Contacts
import Foundation
import TestSupport
import Testing

@testable import Commands

@Suite("waft visible")
struct VisibleCommandTests {
    @Test("a temporary visibility shows its end and the visibility after it, and ends by itself")
    func transcript() throws {
        let shelf = ContactsShelf()
        #expect(try shelf.run("visible").results == ["contacts"])
        #expect(
            try shelf.run("visible", "everyone", "--for", "10m").results == [
                "everyone for 10m, until 2026-11-21 08:10:00; then contacts"
            ])
        shelf.advance(seconds: 61)
        #expect(try shelf.run("visible").results == ["everyone for 9m, until 2026-11-21 08:10:00; then contacts"])
        shelf.advance(seconds: 539)
        #expect(try shelf.run("visible").results == ["contacts"])
        #expect(try shelf.run("visible", "off").results == ["off"])
        #expect(
            try shelf.run("visible", "contacts", "--for", "90s").results == [
                "contacts for 90s, until 2026-11-21 08:11:30; then off"
            ])
        #expect(try shelf.run("visible", "everyone").results == ["everyone"], "for good: nothing comes after")
    }

    @Test("it speaks JSON")
    func json() throws {
        let shelf = ContactsShelf()
        let document = try #require(
            try shelf.run("visible", "everyone", "--for", "10m", "--json").documents.first)
        #expect(document["visibility"] as? String == "everyone")
        #expect(document["visibilitySeconds"] as? Int == 600)
        #expect(document["visibilityUntil"] as? String == "2026-11-21T08:10:00Z")
        #expect(document["visibilityThen"] as? String == "contacts")
        let lasting = try #require(try shelf.run("visible", "off", "--json").documents.first)
        #expect(lasting.count == 3 && lasting["visibility"] as? String == "off")
    }

    @Test(
        "an impossible visibility is refused with exit 64",
        arguments: [
            ["nobody"], ["--for", "10m"], ["everyone", "--for", "soon"], ["everyone", "--for", "0s"],
            ["everyone", "--for", "99999d"], ["everyone", "--for", "\u{1B}[2J"], ["off", "contacts"],
        ])
    func refusals(words: [String]) throws {
        let shelf = ContactsShelf()
        let failure = shelf.failure(["visible"] + words)
        #expect(failure.exit == 64)
        #expect(!failure.message.contains("\u{1B}"))
        #expect(try shelf.run("visible").results == ["contacts"])
    }

    @Test("a damaged file is reported, with the visibility in force, and a new choice repairs it")
    func damaged() throws {
        let shelf = ContactsShelf()
        try FileManager.default.createDirectory(atPath: shelf.folder / "state", withIntermediateDirectories: true)
        shelf.folder.file("state/visibility.json", "{")
        let failure = shelf.failure("visible")
        #expect(failure.exit == 1)
        #expect(failure.hint == "until the file is fixed, contacts applies")
        #expect(try shelf.run("visible", "off").results == ["off"])
    }
}
