import Foundation
import GRDB
import Sharing
import TestSupport
import Testing

@testable import Journal

@Suite("Opening a journal", .timeLimit(.minutes(1)))
struct OpeningTests {
    private let folder = TemporaryFolder()
    private var path: String { folder / "journal.sqlite" }

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    /// The error line for a journal that cannot be used. Checks that the files are unchanged.
    private func refusal() -> String? {
        // A new empty log beside the file is allowed: it contains nothing.
        func look() -> [Data] { [path, path + "-wal"].map { contents($0) ?? Data() } }
        let before = look()
        let line = fault { _ = try Journal(folder: folder.path) }
        #expect(look() == before, "nothing is changed or removed")
        if let line {
            #expect(!line.contains { $0.isNewline }, "\(line)")
            #expect(line.contains(folder.path), "it says which file: \(line)")
        }
        return line
    }

    @Test("makes the folder and the file, private to the user")
    func makes() throws {
        let state = folder / "a/b/state"
        let previous = umask(0)
        defer { umask(previous) }
        let journal = try Journal(folder: state)
        try journal.arrive(1)
        #expect(mode(state) == 0o700)
        for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "journal.lock"] {
            #expect(mode(state + "/" + name) == 0o600, "\(name)")
        }
    }

    @Test("takes an older file away from others")
    func protects() throws {
        try Journal(folder: folder.path).arrive(1)
        chmod(path, 0o644)
        let journal = try Journal(folder: folder.path)
        try journal.arrive(1)
        #expect(mode(path) == 0o600)
        #expect(mode(path + "-wal") == 0o600)
    }

    @Test("sets the writing connection so that committed data is on the disk")
    func pragmas() throws {
        for _ in 0..<2 {
            let journal = try Journal(folder: folder.path)
            let inForce = try journal.queue.writeWithoutTransaction { database in
                try ["journal_mode", "synchronous", "foreign_keys", "busy_timeout"].map {
                    try DatabaseValue.fetchOne(database, sql: "PRAGMA \($0)")
                }
            }
            // 2 is FULL.
            #expect(
                inForce == [
                    "wal".databaseValue, 2.databaseValue, 1.databaseValue, 10_000.databaseValue,
                ])
            let inTransaction = try journal.queue.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            #expect(inTransaction == 2)
            try journal.arrive(1)
        }
    }

    @Test("keeps existing entries, and gives no number twice")
    func keeps() throws {
        let first = try Journal(folder: folder.path).arrive(3)
        let forgotten: ArrivalNumber
        do {
            let journal = try Journal(folder: folder.path)
            #expect(try journal.waiting().map(\.number) == first)
            forgotten = try journal.intend([sampleArrival(0)])[0]
            try journal.settle([(number: forgotten, stored: nil)])
            try journal.end(first, as: .yes)
            #expect(try journal.prune(keeping: 0, olderThan: time(.max)) == 3)
        }
        #expect(try Journal(folder: folder.path).arrive(1)[0] > forgotten)
    }

    @Test("finds the unsettled arrivals of an earlier process, and not its own")
    func unsettled() throws {
        let left = try Journal(folder: folder.path).intend([sampleArrival(0), sampleArrival(1)])
        let journal = try Journal(folder: folder.path)
        _ = try journal.intend([sampleArrival(2)])
        #expect(try journal.unsettled().map(\.number) == left)
        try journal.settle([(number: left[0], stored: stored("a")), (number: left[1], stored: nil)])
        #expect(try journal.unsettled().isEmpty)
        #expect(try journal.waiting().map(\.number) == [left[0]])
    }

    @Test("is for one process at a time")
    func exclusive() throws {
        let probe = try Probe("hold", folder.path)
        #expect(probe.line() == "open")
        #expect(fault { _ = try Journal(folder: folder.path) }?.contains("another receiver is using") == true)
        #expect(try JournalReader(folder: folder.path).entries(latest: 1) == [])
        probe.kill()
        try Journal(folder: folder.path).arrive(1)
    }

    @Test(
        "refuses a file that is not a database",
        arguments: ["x", "not a database", String(repeating: "text\n", count: 20_000)])
    func notADatabase(text: String) {
        folder.file("journal.sqlite", text, mode: 0o600)
        let line = refusal()
        #expect(line?.contains("moves journal.sqlite away") == true, "\(line ?? "opened")")
        let read = fault { _ = try JournalReader(folder: folder.path).entries(latest: 1) }
        #expect(read?.contains("moves journal.sqlite away") == true, "\(read ?? "read")")
    }

    @Test("refuses a file that is damaged, wherever it is", arguments: [100, 4_096, 8_192, 20_000, 1 << 16])
    func damaged(offset: Int) throws {
        do {
            let journal = try Journal(folder: folder.path)
            try journal.arrive(1_000)
        }
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(repeating: 0xa5, count: 2_000))
        try file.close()
        let line = refusal()
        #expect(line?.contains("is damaged") == true, "\(line ?? "opened")")
        #expect(line?.contains("moves journal.sqlite away") == true)
        // A reader reports the damage or reads the rest; the process does not end.
        _ = fault { _ = try JournalReader(folder: folder.path).entries(latest: .max) }
        _ = fault { _ = try JournalReader(folder: folder.path).summary() }
    }

    @Test("refuses a file that was cut short", arguments: [10, 512, 4_096, 8_192, 40_000])
    func cutShort(size: Int) throws {
        try Journal(folder: folder.path).arrive(1_000)
        try #require(truncate(path, size) == 0)
        #expect(refusal()?.contains("is damaged") == true)
    }

    @Test("refuses a log without its file, which may be all that is left")
    func logAlone() throws {
        do {
            let journal = try Journal(folder: folder.path)
            try journal.arrive(1)
            try #require(link(path + "-wal", folder / "saved") == 0)
        }
        try #require(unlink(path) == 0)
        try #require(rename(folder / "saved", path + "-wal") == 0)
        folder.file("x")
        #expect(refusal()?.contains("is missing beside its log") == true)
    }

    @Test("refuses a journal from a newer version")
    func newer() throws {
        try Journal(folder: folder.path).arrive(1)
        try tamper(folder.path, "INSERT INTO grdb_migrations (identifier) VALUES ('9999')")
        let line = refusal()
        #expect(line?.contains("newer version of Waft") == true, "\(line ?? "opened")")
        let read = fault { _ = try JournalReader(folder: folder.path).entries(latest: 1) }
        #expect(read?.contains("newer version of Waft") == true, "\(read ?? "read")")
    }

    @Test("leaves the log of a journal from a newer version unchanged")
    func newerLog() throws {
        let journal = try Journal(folder: folder.path)
        try journal.arrive(1)
        try tamper(folder.path, "INSERT INTO grdb_migrations (identifier) VALUES ('9999')")
        let other = folder / "other"
        try #require(mkdir(other, 0o700) == 0)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: other + "/journal.sqlite" + suffix)
        }
        let log = contents(other + "/journal.sqlite-wal")
        #expect(log?.isEmpty == false)
        #expect(fault { _ = try Journal(folder: other) }?.contains("newer version of Waft") == true)
        #expect(contents(other + "/journal.sqlite-wal") == log)
        withExtendedLifetime(journal) {}
    }

    @Test("refuses a database of another program")
    func foreign() throws {
        try tamper(folder.path, "CREATE TABLE bookmarks (url TEXT)")
        let line = refusal()
        #expect(line?.contains("database of another program") == true, "\(line ?? "opened")")
        let read = fault { _ = try JournalReader(folder: folder.path).entries(latest: 1) }
        #expect(read?.contains("database of another program") == true, "\(read ?? "read")")
    }

    @Test("refuses a path that is no file, and a folder that is none")
    func notAFile() throws {
        try #require(mkdir(path, 0o700) == 0)
        let line = refusal()
        #expect(line?.contains("is not a file") == true, "\(line ?? "opened")")
        folder.file("file")
        #expect(fault { _ = try Journal(folder: folder / "file") }?.contains("is not a folder") == true)
        #expect(fault { _ = try Journal(folder: folder / "file/x") }?.hasPrefix("could not make the folder") == true)
    }

    @Test("continues if it was ended at the very beginning")
    func beginnings() throws {
        folder.file("journal.sqlite", mode: 0o600)
        try Journal(folder: folder.path).arrive(1)
        // A rollback journal is beside a file that has no tables yet.
        try #require(unlink(path) == 0)
        try tamper(folder.path, "PRAGMA application_id = \(JournalSchema.applicationID)")
        try Journal(folder: folder.path).arrive(1)
        #expect(try unsoundness(folder.path) == [])
    }

    @Test("continues wherever its creation was interrupted")
    func cutShort() throws {
        let made = try Journal(folder: folder / "made")
        // A log with that number of frames, one page each, after its header.
        let log = try #require(contents(folder / "made/journal.sqlite-wal"))
        let database = try #require(contents(folder / "made/journal.sqlite"))
        let frames = (log.count - 32) / (24 + 4_096)
        #expect(frames > 10)
        for count in 0...frames {
            let cut = folder / "cut-\(count)"
            try #require(mkdir(cut, 0o700) == 0)
            try Data(database).write(to: URL(fileURLWithPath: cut + "/journal.sqlite"))
            try Data(log.prefix(32 + count * (24 + 4_096))).write(to: URL(fileURLWithPath: cut + "/journal.sqlite-wal"))
            #expect(fault { _ = try Journal(folder: cut).arrive(1) } == nil, "after \(count) of \(frames) frames")
        }
        withExtendedLifetime(made) {}
    }
}
