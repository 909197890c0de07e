import Digests
import Endpoints
import Foundation
import Sharing
import TestSupport
import Testing

@testable import Sending

@Suite("The log of sent items")
struct SentLogTests {
    private let folder = TemporaryFolder()

    private var path: String { folder / "sent.jsonl" }

    private func report(_ items: [SendResult.Item], dialect: Dialect = .keyed) -> SendReport {
        var offer = Offer.sample(items: items.count)
        offer.dialect = dialect
        return SendReport(
            peer: .sample(1), name: "kit\u{1B}chen", offer: offer, items: items, movedBytes: 5)
    }

    private func stored(_ name: String, isAlready: Bool = false) -> SendResult.Item {
        .acknowledged(
            ItemReceipt(.stored(name: name, size: 5, digest: .of(.xxh3_128, [])), isAlready: isAlready), sent: nil)
    }

    @Test("is read back with the result of each item, the newest last")
    func roundTrip() throws {
        let log = SentLog(folder: folder.path)
        #expect(log.entries(latest: 9).isEmpty)
        log.note(report([stored("a-1"), stored("b", isAlready: true), .lost(TransferError(.interrupted, "cut"))]))
        log.note(report([.notAccepted(ItemVerdict(.declined, reason: "no"))]))
        log.note(report([stored("c")], dialect: .keyless))
        let entries = log.entries(latest: 9)
        #expect(entries.map(\.arrived) == [2, 0, 1])
        #expect(entries[0].items.map(\.state) == ["stored", "alreadyThere", "failed"])
        #expect(entries[0].items.map(\.stored) == ["a-1", "b", nil])
        #expect(entries[0].items[2].reason == "cut")
        #expect(entries[1].items.map(\.state) == ["declined"])
        #expect(entries[2].items.map(\.state) == ["taken"])
        #expect(entries[0].name == "kit\u{1B}chen", "nothing is lost; who shows it escapes it")
        #expect(log.entries(latest: 1) == [entries[2]])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("names the first hundred items of a transfer and counts the others")
    func manyItems() {
        let log = SentLog(folder: folder.path)
        log.note(report(Array(repeating: stored("x"), count: 1_000)))
        let entry = log.entries(latest: 1).first
        #expect(entry?.count == 1_000)
        #expect(entry?.arrived == 1_000)
        #expect(entry?.items.count == SentLog.namedItems)
    }

    @Test("passes over lines that are none, and a folder in which nothing can be written changes nothing")
    func damaged() throws {
        let log = SentLog(folder: folder.path)
        log.note(report([stored("a")]))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try ("{\"v\":1\n\n\u{0}\n" + text + "[]").write(toFile: path, atomically: false, encoding: .utf8)
        #expect(log.entries(latest: 9).map(\.arrived) == [1])
        SentLog(folder: folder / "nowhere").note(report([stored("a")]))
        #expect(SentLog(folder: folder / "nowhere").entries(latest: 9).isEmpty)
    }

    @Test("is put aside when it has become long, and read on from there")
    func rotation() throws {
        let log = SentLog(folder: folder.path)
        log.note(report([stored("old")]))
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(repeating: UInt8(ascii: "\n"), count: SentLog.byteLimit))
        try file.close()
        log.note(report([stored("older")]))
        log.note(report([stored("new")]))
        #expect(log.entries(latest: 9).map { $0.items[0].stored } == ["old", "older", "new"])
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size.map { $0 < 4_096 } == true)
    }
}
