import Contacts
import Foundation
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Commands

private let anna = PeerID.sample(1)
private let stranger = PeerID.sample(3)

@Suite("waft policy")
struct PolicyCommandTests {
    private func shelf(_ rules: [[String: PolicyValue]] = PolicyCommandTests.rules) throws -> ContactsShelf {
        let shelf = ContactsShelf(
            policy: try Policy(rules.map { try PolicyRule(fields: $0, registry: .system, dialects: .samples) }))
        _ = try shelf.run("contacts", "allow", anna.text, "--name", "Anna", "--size-at-most", "1kB")
        return shelf
    }

    private static let rules: [[String: PolicyValue]] = [
        ["name": .scalar("*.exe"), "then": .scalar("decline")],
        [
            "from": .list(["Anna", "Berta"]), "type": .scalar("public.image"), "sizeAtMost": .scalar("5 GB"),
            "then": .scalar("accept"), "folder": .scalar("Photos/Anna"), "handler": .scalar("Photos"),
        ],
        ["time": .scalar("08:00-18:00"), "sizeAtLeast": .scalar("1 MB"), "then": .scalar("ask")],
    ]

    @Test("rules are listed in their order, and names that no contact has are reported")
    func list() throws {
        let report = try shelf().run("policy")
        #expect(
            report.results == [
                "1  decline: name *.exe",
                "2  accept: from Anna or Berta; type public.image; up to 5.0 GB; into Photos/Anna; to Photos",
                "3  ask: at least 1.0 MB; at 08:00-18:00",
            ])
        #expect(report.notes == ["warning: rule 2 names Berta, which is not a contact"])
        let documents = try shelf().run("policy", "list", "--json").documents
        #expect(documents.count == 3)
        #expect(documents[1]["senders"] as? [String] == ["Anna", "Berta"])
        #expect(documents[1]["sizeAtMost"] as? Int == 5_000_000_000)
        #expect(try shelf([["then": .scalar("ask")]]).run("policy").results == ["1  ask: everything"])
        #expect(try shelf([]).run("policy").notes.first?.hasPrefix("there are no rules") == true)
    }

    @Test("for each item the output has the decision and the reason")
    func test() throws {
        let shelf = try shelf()
        let photo = shelf.folder.file("a.jpg", "12345")
        let program = shelf.folder.file("SETUP.EXE", "MZ")
        #expect(
            try shelf.run("policy", "test", "--from", "anna", photo, program).results == [
                "\(photo)  public.jpeg, 5 bytes",
                "  accept: rule 2 matches; rule 1 does not match: its name is not *.exe",
                "  goes into Photos/Anna, to Photos",
                "\(program)  com.microsoft.windows-executable, 2 bytes",
                "  decline: rule 1 matches",
            ])
        let large = shelf.folder.file("b.jpg", String(repeating: "x", count: 2_000))
        let beyond = try shelf.run("policy", "test", "--from", anna.text, large)
        #expect(beyond.text.contains("ask: rule 2 matches, but offers of Anna are accepted only within limits"))
        let document = try #require(
            try shelf.run("policy", "test", "--from", "Anna", photo, "--json").documents.first)
        #expect(document["outcome"] as? String == "accept")
        #expect(document["folder"] as? String == "Photos/Anna")
    }

    @Test("strangers are judged by the current visibility, or by the given one")
    func strangers() throws {
        let shelf = try shelf()
        let photo = shelf.folder.file("a.jpg", "12345")
        let hidden = try shelf.run("policy", "test", "--from", "stranger", photo)
        #expect(
            hidden.text.contains("decline: the sender is a stranger, and this receiver is visible to contacts only"))
        let open = try shelf.run("policy", "test", "--from", "stranger", "--visible", "everyone", photo)
        #expect(open.text.contains("  ask: the sender is a stranger; rule 1 does not match"))
        // The user has invited the guests of the page.
        #expect(try shelf.run("policy", "test", "--from", "web", photo).results == open.results)
        _ = try shelf.run("visible", "everyone", "--for", "1m")
        #expect(try shelf.run("policy", "test", "--from", stranger.text, photo).results == open.results)
        _ = try shelf.run("contacts", "block", stranger.text)
        let blocked = try shelf.run("policy", "test", "--from", stranger.text, photo)
        #expect(blocked.text.contains("decline: the peer is blocked"))
    }

    @Test("a peer that is none, and a file that is not there, are refused")
    func refusals() throws {
        let shelf = try shelf()
        let photo = shelf.folder.file("a.jpg", "12345")
        #expect(shelf.failure("policy", "test", "--from", "nobody", photo).exit == 64)
        #expect(shelf.failure("policy", "test", "--from", stranger.short, photo).exit == 64)
        #expect(shelf.failure("policy", "test", "--from", "anna").exit == 64)
        #expect(shelf.failure("policy", "test", photo).exit == 64)
        #expect(shelf.failure("policy", "test", "--from", "anna", photo, shelf.folder / "none").exit == 66)
        #expect(shelf.failure("policy", "test", "--from", "anna", "/dev/null").exit == 66)
    }

    @Test("names and paths with escape sequences are shown harmless")
    func hostileNames() throws {
        let shelf = try shelf([["name": .scalar("\u{1B}[2J*"), "then": .scalar("decline")]])
        #expect(try shelf.run("policy").isPrintable)
        let folder = shelf.folder / "\u{1B}[2J\u{202E}"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        _ = FileManager.default.createFile(atPath: folder + "/a.jpg", contents: Data())
        #expect(try shelf.run("policy", "test", "--from", "anna", folder + "/a.jpg").isPrintable)
    }
}
