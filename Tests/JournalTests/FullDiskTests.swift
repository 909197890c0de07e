import CLinuxShims
import Foundation
import GRDB
import Sharing
import TestSupport
import Testing

@testable import Journal

@Suite("When the disk is full", .timeLimit(.minutes(1)))
struct FullDiskTests {
    @Test("nothing is recorded, the failure is reported, and later it continues")
    func fullFile() throws {
        let folder = TemporaryFolder()
        let journal = try Journal(folder: folder.path)
        let numbers = try journal.arrive(2)
        try journal.queue.writeWithoutTransaction { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        do throws(TransferError) {
            _ = try journal.intend((0..<512).map { sampleArrival($0) })
            Issue.record("it was written down")
        } catch {
            #expect(error.code == .noRoom)
            #expect(error.message.contains("the disk is full"))
        }
        #expect(try Journal.unsettledCount(folder.path) == 0)
        let many = Array(repeating: numbers[0], count: 512)
        let line = fault { _ = try journal.began(many, handler: String(repeating: "h", count: 200), at: time(0)) }
        #expect(line?.contains("the disk is full") == true, "\(line ?? "written")")
        #expect(try journal.waiting().map(\.attempts) == [0, 0])
        try journal.queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
        #expect(try journal.intend((0..<512).map { sampleArrival($0) }).count == 512)
        #expect(try unsoundness(folder.path) == [])
    }

    @Test("on a really full disk, an open journal keeps its confirmed entries, and can be read and opened again")
    func fullDisk() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            try #require(CLinuxShims_unshare_mounts() == 0, "private mounts need root: errno \(errno)")
            try #require(CLinuxShims_make_mounts_private() == 0)
            try #require(mkdir(folder / "state", 0o700) == 0)
            try #require(CLinuxShims_mount_tmpfs(folder / "state", "2m") == 0)
            defer { umount2(folder / "state", Int32(MNT_DETACH)) }
            try fillAndGoOn(folder / "state")
        }
    }
}

/// Fills a small disk beside an open journal, and then makes room again.
private func fillAndGoOn(_ folder: String) throws {
    let filler = folder + "/filler"
    var numbers: [ArrivalNumber] = []
    do {
        let journal = try Journal(folder: folder)
        numbers = try journal.arrive(10)
        fill(filler)
        var code: TransferError.Code?
        for _ in 0..<2_000 where code == nil {
            do throws(TransferError) {
                let number = try journal.intend([sampleArrival(0)])[0]
                try journal.settle([(number: number, stored: stored("n"))])
                numbers.append(number)
            } catch {
                code = error.code
            }
        }
        #expect(code == .noRoom)
        #expect(try journal.arrival(numbers[0]) != nil)
        #expect(fault { _ = try journal.began([numbers[0]], handler: "h", at: time(0)) }?.contains("is full") == true)
        let read = try JournalReader(folder: folder).entries(latest: .max).map(\.arrival.number)
        #expect(Set(read).isSuperset(of: numbers))
    }
    do {
        // Opened without free room: all arrivals are there, or the error states the reason.
        let line = fault {
            let waiting = try Journal(folder: folder).waiting().map(\.number)
            #expect(Set(waiting).isSuperset(of: numbers))
        }
        if let line { #expect(line.contains("full"), "\(line)") }
    }
    #expect(unlink(filler) == 0)
    let journal = try Journal(folder: folder)
    let waiting = try journal.waiting().map(\.number)
    #expect(Set(waiting).isSuperset(of: numbers))
    try journal.arrive(10)
    #expect(try unsoundness(folder) == [])
}

/// Fills a file until there is no room for another byte.
private func fill(_ path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(file) }
    var size = 1 << 16
    let bytes = [UInt8](repeating: 0, count: size)
    while size > 0 {
        if write(file, bytes, size) != size { size /= 2 }
    }
}
