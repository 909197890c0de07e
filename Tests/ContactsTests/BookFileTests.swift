import Contacts
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing

@Suite("The file of the contacts", .timeLimit(.minutes(2)))
struct BookFileTests {
    let place = Place()

    private static func entry(_ more: String = "", id: PeerID = .sample(1), name: String = "anna") -> String {
        #"{"id":"\#(id.text)","name":"\#(name)","policy":"ask","verified":{"by":"keyID","at":1}\#(more)}"#
    }

    private static func document(_ entries: String...) -> String {
        #"{"version":1,"contacts":[\#(entries.joined(separator: ","))]}"#
    }

    @Test("entries that people wrote into the file by hand are read")
    func byHand() throws {
        try place.write(
            Self.document(Self.entry(#","times":"8:00-18:00","days":["Mon"],"folder":"In/Here""#)), to: place.bookPath)
        let contact = try #require(try place.book().snapshot().contacts.first)
        #expect(contact.limits.times?.description == "08:00-18:00 on mon")
        #expect(contact.policy == .ask)
    }

    @Test(
        "a damaged file is refused with one clear line, and never written over",
        arguments: [
            ("", "it is not JSON, or has an invalid number in it"),
            ("{", "it is not JSON, or has an invalid number in it"),
            ("\u{0}\u{1}", "it is not JSON, or has an invalid number in it"),
            (String(repeating: "[", count: 1_000_000), "it is not JSON, or has an invalid number in it"),
            ("[]", "it is not a JSON document with contacts"),
            ("{}", "version in it is missing"),
            (#"{"version":4,"people":1}"#, "it is of version 4, and only 1 to 3 can be read"),
            (#"{"version":2,"contacts":[]}"#, "its last line, with the checksum, is missing"),
            (#"{"version":1}"#, "contacts in it is missing"),
            (#"{"version":1,"contacts":[5]}"#, "contacts[1] in it has the wrong kind"),
            (document(#"{"id":"k7qf","name":"a"}"#), "contacts[1].id in it is invalid"),
            (document(entry(#","types":["no type"]"#)), "contacts[1].types[1] in it is invalid"),
            (document(entry(#","largestOffer":-1"#)), "it is not JSON, or has an invalid number in it"),
            (
                document(entry(#","maximumItems":-1"#)),
                "contact 1 in it: it has too many types or addresses, or a negative number of items"
            ),
            (document(entry(), entry()), "it lists a key twice"),
            (document(entry(), entry(id: .sample(2), name: "ANNA")), "two contacts in it have the name ANNA"),
            (document(entry(#","folder":"../x""#)), "the folder of contact 1 in it: the name is . or .."),
            (
                document(entry(#","times":"25:00-26:00""#)),
                "contact 1 in it: \"25:00-26:00\" is not a time of the day such as 08:00-18:30 or 22:00-06:00"
            ),
            (document(entry(#","days":["mon"]"#)), "contact 1 in it: days need times"),
            (document(entry(#","handler":"a/b""#)), "contact 1 in it: \"a/b\" is not a handler's identifier or name"),
        ])
    func damaged(text: String, reason: String) throws {
        try place.write(text, to: place.bookPath)
        let book = place.book()
        let line =
            "\(place.bookPath) cannot be used and was left as it is: \(reason); put a good copy in "
            + "its place, or move all files of that name away to start without contacts"
        #expect(refusal { _ = try book.snapshot() } == line)
        #expect(refusal { try book.allow(.sample(1), named: try ContactName("anna"), .sample) } == line)
        #expect(refusal { try book.block(.sample(1), callingItself: "", at: at(1)) } == line)
        #expect(try place.read(place.bookPath) == text)
    }

    @Test("names in the file are held to the rules of names", arguments: ["a\\u001b[0m", "a/b", "contacts", " ", ""])
    func names(text: String) throws {
        try place.write(Self.document(Self.entry(name: text)), to: place.bookPath)
        #expect(refusal { _ = try place.book().snapshot() }?.contains("contact 1 in it: ") == true)
    }

    @Test("a file cut short or changed in any one place is read or refused, never fatal")
    func mangled() throws {
        let whole = Array(Self.document(Self.entry(), Self.entry(id: .sample(2), name: "berta")).utf8)
        var numbers = SeededNumbers(seed: 4)
        for length in stride(from: 0, to: whole.count, by: 3) {
            var bytes = Array(whole.prefix(length))
            _ = try? look(bytes)
            bytes = whole
            bytes[length] = UInt8.random(in: 0...255, using: &numbers)
            _ = try? look(bytes)
        }
    }

    private func look(_ bytes: [UInt8]) throws {
        try? FileManager.default.createDirectory(atPath: place.folder / "state", withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: place.bookPath))
        _ = try place.book().snapshot()
    }

    @Test("a file that is huge, a link, a pipe or a folder is not read")
    func notAFile() throws {
        try place.write("", to: place.bookPath)
        truncate(place.bookPath, 64 << 30)
        let book = place.book()
        #expect(refusal { _ = try book.snapshot() }?.contains("it is larger than 32768 KiB") == true)
        unlink(place.bookPath)
        mkfifo(place.bookPath, 0o600)
        #expect(refusal { _ = try book.snapshot() }?.contains("it is not a regular file") == true)
        unlink(place.bookPath)
        symlink("/dev/zero", place.bookPath)
        #expect(refusal { _ = try book.snapshot() }?.contains("it is a link") == true)
        unlink(place.bookPath)
        mkdir(place.bookPath, 0o700)
        #expect(refusal { _ = try book.snapshot() }?.contains("it is not a regular file") == true)
        #expect(refusal { try book.block(.sample(1), callingItself: "", at: at(1)) } != nil)
    }

    @Test("more contacts than can be kept are not read")
    func tooMany() throws {
        let entries = (0...10_000).map { Self.entry(id: .numbered($0), name: "n\($0)") }.joined(separator: ",")
        try place.write(#"{"version":1,"contacts":[\#(entries)]}"#, to: place.bookPath)
        #expect(refusal { _ = try place.book().snapshot() }?.contains("more than 10000 contacts") == true)
    }

    @Test("a file that came right again is used again")
    func mended() throws {
        let book = place.book()
        try place.write("{", to: place.bookPath)
        #expect(refusal { _ = try book.snapshot() } != nil)
        try place.write(Self.document(Self.entry()), to: place.bookPath)
        #expect(try book.snapshot().contacts.count == 1)
    }

    @Test("if the folder cannot be written, the error has the reason")
    func cannotWrite() throws {
        #expect(FileManager.default.createFile(atPath: place.folder / "state", contents: nil))
        let line = refusal { try place.book().block(.sample(1), callingItself: "", at: at(1)) }
        #expect(line == "\(place.bookPath) could not be written: Not a directory")
    }

    @Test("changes by many tasks at the same time are all kept")
    func tasks() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask { try Self.add(25, from: task * 25, to: place.bookPath) }
            }
            try await group.waitForAll()
        }
        #expect(try place.book().snapshot().contacts.count == 100)
    }

    @Test("changes by two processes at the same time are all kept, and a reader sees every state whole")
    func processes() async throws {
        let path = place.bookPath
        let isOver = Gate()
        async let looks = Self.look(at: path, until: isOver)
        async let first = #expect(processExitsWith: .success) { [path = path as String] in
            try BookFileTests.add(60, from: 0, to: path)
        }
        async let second = #expect(processExitsWith: .success) { [path = path as String] in
            try BookFileTests.add(60, from: 60, to: path)
        }
        _ = await (first, second)
        isOver.open()
        // A contact that one look finds is found by every later look.
        let counts = try await looks
        #expect(counts == counts.sorted())
        #expect(try place.book().snapshot().contacts.count == 120)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.folder / "state").sorted() == [
                "contacts.json", "contacts.json.last",
            ])
    }

    /// - Returns: the number of contacts at each look.
    private static func look(at path: String, until isOver: Gate) async throws -> [Int] {
        let book = ContactBook(path: path)
        var counts: [Int] = []
        while !isOver.isOpen {
            counts.append(try book.snapshot().contacts.count)
            await Task.yield()
        }
        return counts
    }

    static func add(_ count: Int, from first: Int, to path: String) throws {
        let book = ContactBook(path: path)
        for number in first..<first + count {
            try book.allow(.numbered(number), named: try ContactName("peer \(number)"), .sample)
        }
    }
}
