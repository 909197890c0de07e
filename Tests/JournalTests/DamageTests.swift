import Foundation
import GRDB
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import Journal

@Suite("A damaged journal at the start", .timeLimit(.minutes(2)))
struct DamageTests {
    private let folder = TemporaryFolder()
    private var path: String { folder / "journal.sqlite" }
    private var aside: [String] { folder.names.filter { $0.hasPrefix("journal.sqlite.damaged-") } }

    private func open(_ lines: inout [String]) throws -> Journal {
        try Journal.openingOrReplacing(folder: folder.path, damaged: { lines.append($0) })
    }

    /// Opens or replaces the journal, and checks that it can be used.
    private func opened() throws -> (journal: Journal, lines: [String]) {
        var lines: [String] = []
        let journal = try open(&lines)
        let number = try journal.arrive(1)[0]
        #expect(try journal.waiting().map(\.number).contains(number))
        return (journal, lines)
    }

    @Test("a whole journal is opened, with all its entries")
    func whole() throws {
        let numbers = try Journal(folder: folder.path).arrive(3)
        var lines: [String] = []
        #expect(try open(&lines).waiting().map(\.number) == numbers)
        #expect(lines.isEmpty && aside.isEmpty)
    }

    @Test(
        "whatever bits are flipped, the journal can be opened afterwards, and the damaged file is kept",
        arguments: 0..<6)
    func flips(seed: UInt64) throws {
        do { try Journal(folder: folder.path).arrive(500) }
        var bytes = try #require(contents(path))
        var dice = SeededNumbers(seed: seed)
        for _ in 0..<200 {
            bytes[Int.random(in: 0..<bytes.count, using: &dice)] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        let (journal, lines) = try opened()
        #expect(lines.count == 1 && aside.count >= 1)
        #expect(lines.first?.contains { $0.isNewline } == false)
        let kept = aside.first { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
        #expect(kept.flatMap { contents(folder / $0) }?.count == bytes.count)
        withExtendedLifetime(journal) {}
    }

    @Test(
        "a journal that is cut, noise, a text, another program's, a folder or only a log is replaced by a new one",
        arguments: ["cut", "noise", "text", "foreign", "folder", "log", "renamed column"])
    func others(way: String) throws {
        do { try Journal(folder: folder.path).arrive(500) }
        switch way {
        case "cut": truncate(path, 40_000)
        case "noise":
            var dice = SeededNumbers(seed: 5)
            try Data((0..<50_000).map { _ in UInt8.random(in: 0...255, using: &dice) })
                .write(to: URL(fileURLWithPath: path))
        case "text": folder.file("journal.sqlite", "x")
        case "foreign":
            try tamper(folder.path, "PRAGMA application_id = 1")
        case "folder":
            unlink(path)
            mkdir(path, 0o700)
        case "log":
            unlink(path)
            folder.file("journal.sqlite-wal", "not a log")
        default: try tamper(folder.path, "ALTER TABLE arrivals RENAME COLUMN digest TO digess")
        }
        let (journal, lines) = try opened()
        #expect(lines.count == 1 && !aside.isEmpty)
        // The new journal does not contain the old arrivals: none is delivered again.
        #expect(try journal.waiting().count == 1)
        #expect(try journal.unsettled().isEmpty)
    }

    @Test("numbers go on above those of the damaged one where they can be read")
    func numbers() throws {
        let last = try #require(try Journal(folder: folder.path).arrive(700).last)
        // Overwrites a page in the middle of the table.
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: 60_000)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 2_000))
        try file.close()
        let (journal, lines) = try opened()
        #expect(lines.first?.contains("from number 1") == false)
        #expect(try journal.waiting().map(\.number) == [ArrivalNumber(last.value + 1)])
    }

    @Test("it is not moved away while another process has it, nor if its version is newer")
    func notDamage() throws {
        try Journal(folder: folder.path).arrive(1)
        try tamper(folder.path, "INSERT INTO grdb_migrations (identifier) VALUES ('9999')")
        var lines: [String] = []
        #expect(fault { _ = try open(&lines) }?.contains("newer version of Waft") == true)
        let held = try JournalLock(JournalFile(folder: folder.path))
        folder.file("journal.sqlite", "x")
        #expect(fault { _ = try open(&lines) }?.contains("another receiver is using") == true)
        #expect(lines.isEmpty && aside.isEmpty)
        withExtendedLifetime(held) {}
    }

    @Test("damage that shows while it is open is remembered, and ends nothing but the call")
    func running() throws {
        let journal = try Journal(folder: folder.path)
        try journal.arrive(2_000)
        try journal.queue.writeWithoutTransaction { database in
            _ = try database.checkpoint(.truncate)
            try database.execute(sql: "PRAGMA shrink_memory")
        }
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        let size = try file.seekToEnd()
        for page in stride(from: 8_192, to: size, by: 4_096) {
            try file.seek(toOffset: page)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
        }
        // Not closed, because closing would release SQLite's locks.
        let line = fault { _ = try journal.waiting() } ?? fault { try journal.arrive(1) }
        #expect(line?.contains("is damaged") == true)
        #expect(journal.damage?.contains("is damaged") == true)
        withExtendedLifetime(file) {}
    }
}
