import Contacts
import Foundation
import Glibc
import Sharing
import Synchronization
import TestSupport
import Testing

@Suite("A damaged book of contacts", .timeLimit(.minutes(2)))
struct BookDamageTests {
    let place = Place()
    private var copyPath: String { place.bookPath + ".last" }
    private var aside: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: place.folder / "state")) ?? []).sorted().filter {
            $0.hasPrefix("contacts.json.damaged-")
        }
    }

    private func fill() throws -> [Contact] {
        let book = place.book()
        try book.allow(.sample(1), named: try ContactName("anna"), .sample)
        try book.set("anna") {
            $0.policy = .accept
            $0.limits.largestOffer = 5_000_000
        }
        try book.allow(.sample(2), named: try ContactName("berta"), .sample)
        try book.block(.sample(3), callingItself: "mallory", at: at(7))
        return try book.snapshot().contacts
    }

    @Test("a bit that is flipped anywhere in the file is noticed, and the copy takes its place with nothing lost")
    func everyFlip() throws {
        let contacts = try fill()
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.bookPath))
        var dice = SeededNumbers(seed: 22)
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
            try bytes.write(to: URL(fileURLWithPath: place.bookPath))
            let snapshot = try place.book().snapshot()
            #expect(snapshot.contacts == contacts)
            #expect(snapshot.blockedStrangers.count == 1)
            #expect(try Data(contentsOf: URL(fileURLWithPath: place.bookPath)) == whole)
            #expect(aside.count == 1)
            for name in aside {
                #expect(try Data(contentsOf: URL(fileURLWithPath: place.folder / "state/\(name)")) == bytes)
                unlink(place.folder / "state/\(name)")
            }
        }
    }

    @Test(
        "a file that is cut, empty, random, a folder, a pipe or missing is replaced by its copy, with one line in the log",
        arguments: ["cut", "empty", "noise", "folder", "pipe", "gone"])
    func replaced(way: String) throws {
        let contacts = try fill()
        let whole = try Data(contentsOf: URL(fileURLWithPath: place.bookPath))
        unlink(place.bookPath)
        switch way {
        case "cut": try whole.dropLast(60).write(to: URL(fileURLWithPath: place.bookPath))
        case "empty": try place.write("", to: place.bookPath)
        case "noise":
            var dice = SeededNumbers(seed: 5)
            let noise = (0..<whole.count).map { _ in UInt8.random(in: 0...255, using: &dice) }
            try Data(noise).write(to: URL(fileURLWithPath: place.bookPath))
        case "folder": mkdir(place.bookPath, 0o700)
        case "pipe": mkfifo(place.bookPath, 0o600)
        default: break
        }
        let lines = Mutex<[String]>([])
        let book = ContactBook(path: place.bookPath) { line in lines.withLock { $0.append(line) } }
        #expect(try book.snapshot().contacts == contacts)
        #expect(lines.withLock { $0 }.count == 1)
        #expect(lines.withLock { $0 }.first?.contains(way == "gone" ? "missing" : "contacts.json.damaged-") == true)
        #expect(aside.count == (way == "gone" ? 0 : 1))
        #expect(try Data(contentsOf: URL(fileURLWithPath: place.bookPath)) == whole)
        // The restored book can be changed.
        try book.rename("anna", to: try ContactName("annabel"))
        #expect(try place.book().snapshot().contacts.map(\.name.text) == ["annabel", "berta"])
        #expect(lines.withLock { $0 }.count == 1)
    }

    @Test("if the copy is damaged too, no peer is known, both files stay unchanged, and a change fails")
    func neither() throws {
        _ = try fill()
        for files in [[place.bookPath, copyPath], [copyPath]] {
            unlink(place.bookPath)
            for file in files { try place.write("{", to: file) }
            #expect(
                refusal { _ = try place.book().snapshot() }?.contains("cannot be used and was left as it is") == true)
            #expect(refusal { try place.book().block(.sample(4), callingItself: "", at: at(1)) } != nil)
            for file in files { #expect(try place.read(file) == "{") }
            #expect(aside.isEmpty)
        }
    }

    @Test("a damaged copy does not matter while the file is good, and is good after the next change")
    func damagedCopy() throws {
        let contacts = try fill()
        try place.write("{", to: copyPath)
        #expect(try place.book().snapshot().contacts == contacts)
        try place.book().block(.sample(4), callingItself: "", at: at(1))
        #expect(try place.read(copyPath) == place.read(place.bookPath))
    }

    @Test("a book of version 1, without checksum and check digits, is read, and rewritten with the next change")
    func versionOne() throws {
        let entry =
            #"{"id":"\#(PeerID.sample(1).bareText)","name":"anna","policy":"ask","verified":{"by":"keyID","at":1}}"#
        try place.write(#"{"version":1,"contacts":[\#(entry)]}"#, to: place.bookPath)
        try place.book().rename("anna", to: try ContactName("berta"))
        #expect(try place.read(place.bookPath).contains(PeerID.sample(1).text))
        #expect(try place.read(place.bookPath).contains("\n{\"sum\":\"xxh3-128:"))
        #expect(try place.book().snapshot()[.sample(1)]?.name.text == "berta")
    }

    @Test("several that notice it at once agree, and it is set aside once")
    func atOnce() async throws {
        let contacts = try fill()
        try place.write("{", to: place.bookPath)
        try await withThrowingTaskGroup(of: [Contact].self) { group in
            for _ in 0..<8 { group.addTask { try place.book().snapshot().contacts } }
            for try await seen in group { #expect(seen == contacts) }
        }
        #expect(aside.count == 1)
    }
}
