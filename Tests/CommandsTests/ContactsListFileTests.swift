import ArgumentParser
import Contacts
import Foundation
import Sharing
import TestSupport
import Testing

@testable import Commands

private let anna = PeerID.sample(1)
private let kitchen = PeerID.sample(2)
private let stranger = PeerID.sample(3)

@Suite("waft contacts allow --from")
struct ContactsListFileTests {
    @Test("all lines become contacts with the same terms; comments and empty lines are passed over")
    func list() throws {
        let shelf = ContactsShelf()
        let file = shelf.folder.file(
            "peers", "# Ours\r\n\(anna.text) Anna B.\r\n\n  \(kitchen.text.uppercased())\t kitchen  \n")
        let report = try shelf.run("contacts", "allow", "--from", file, "--policy", "accept")
        #expect(
            report.results == [
                "allowed Anna B.  \(anna.short)  accept", "allowed kitchen  \(kitchen.short)  accept",
            ])
        #expect(try shelf.run("contacts", "allow", "--from", file).results == report.results, "once more is no error")
        #expect(try shelf.run("contacts", "allow", "--from", file, "--json").documents.count == 2)
    }

    @Test("one bad line refuses all, with its number")
    func allOrNothing() throws {
        let shelf = ContactsShelf()
        let good = "\(anna.text) Anna\n"
        let refused: [(String, String)] = [
            (good + "\(kitchen.short) kitchen", "line 2: \"\(kitchen.short)\" is only the beginning of a key id"),
            (good + "\n\(kitchen.text)", "line 3: a KEY-ID, a space and a NAME are needed"),
            (good + "\(kitchen.text) a/b", "line 2: \"a/b\" cannot be the name of a contact"),
            (good + "\(kitchen.text) anna", "line 2: there is already a contact Anna"),
            (good + "\(anna.text) Berta", "line 2: the key is listed twice, also with the name Anna"),
            (good + "\(PeerID.sample(9).text) me", "line 2: this is the key of this machine itself"),
            (good + "\(stranger.text) S", "line 2: the peer \(stranger.short) is blocked"),
            (good + "\u{1B}[2J x", "line 2: \"\\u{1B}[2J\" is not a key id"),
            ("# nobody\n", "has no contacts in it"), ("", "has no contacts in it"),
        ]
        _ = try shelf.run("contacts", "block", stranger.text)
        for (text, message) in refused {
            let file = shelf.folder.file("peers", text)
            let failure = shelf.failure("contacts", "allow", "--from", file)
            #expect(failure.exit == 64)
            #expect(failure.message.contains(message), "\(failure.message)")
            #expect(try shelf.snapshot().contacts.isEmpty)
        }
        _ = try shelf.run("contacts", "allow", anna.text, "--name", "Berta")
        let file = shelf.folder.file("peers", "\(kitchen.text) kitchen\n\(anna.text) Anna")
        let failure = shelf.failure("contacts", "allow", "--from", file)
        #expect(failure.message.contains("line 2: this key already belongs to your contact Berta"))
        #expect(failure.hint == "to rename it: waft contacts rename Berta NEW")
        #expect(try shelf.snapshot().contacts.count == 1)
    }

    @Test("a pipe is read to its end, and - is standard input")
    func pipe() throws {
        let shelf = ContactsShelf()
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("\(anna.text) Anna\n".utf8))
        try pipe.fileHandleForWriting.close()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        #expect(try shelf.run("contacts", "allow", "--from", path).results.count == 1)
        let parsed = try ContactsCommand.parseAsRoot(["allow", "--from", "-"]) as? ContactsAllowCommand
        #expect(parsed?.from == "-")
    }

    @Test("a list that is missing, not text, a folder or too large is refused")
    func unreadable() throws {
        let shelf = ContactsShelf()
        #expect(shelf.failure("contacts", "allow", "--from", shelf.folder / "none").exit == 66)
        #expect(shelf.failure("contacts", "allow", "--from", shelf.folder.path).exit == 66)
        let binary = shelf.folder / "binary"
        try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: binary))
        #expect(shelf.failure("contacts", "allow", "--from", binary).message.contains("is not UTF-8 text"))
        #expect(shelf.failure("contacts", "allow", "--from", "/dev/zero").message.contains("is larger than 2 MiB"))
        let line = anna.text + " Anna\n"
        let many = shelf.folder.file("many", String(repeating: line, count: ContactBounds.contacts + 1))
        #expect(shelf.failure("contacts", "allow", "--from", many).message.contains("more than 10000 contacts"))
        #expect(try shelf.snapshot().contacts.isEmpty)
    }
}
