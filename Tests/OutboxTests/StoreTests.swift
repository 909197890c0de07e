import Foundation
import ItemSources
import Sharing
import TestSupport
import Testing

@testable import Outbox

@Suite("The outbox on the disk")
struct StoreTests {
    private let folder = TemporaryFolder()
    private var store: OutboxStore { OutboxStore(folder: folder / "state/outbox") }

    @Test("an outbox that was never used is empty, and is not made by looking")
    func empty() throws {
        #expect(try store.contents().records == [])
        #expect(folder.names == [])
        #expect(throws: OutboxError.self) { try store.record(JobNumber(1)) }
    }

    @Test("queued jobs are read back unchanged, under increasing numbers")
    func queued() throws {
        let path = folder.file("a.txt", "hello")
        let first = try store.queue(path)
        let draft = try OutboxDraft.make(in: store)
        let text = TextSource("Buy milk")
        let url = try URLSource("https://example.com/")
        try draft.addText("Buy milk", offered: text.offered)
        try draft.addURL("https://example.com/", offered: url.offered)
        let options = OutboxJob.Options(annotation: ["note": "n"], takesPart: true, waitsForHandlers: true)
        let job = try draft.commit(to: .init(text: "nas.lan:9238"), options: options, at: someTime)
        #expect([first, job.number] == [JobNumber(1), JobNumber(2)])
        let records = try store.contents().records
        #expect(records.map(\.number) == [first, job.number])
        #expect(records[1].job == job)
        #expect(records[0].job.items.map(\.content) == [.path(path)])
        #expect(records[0].job.items[0].size == 5)
        #expect(records[0].standing.state == .waiting)
        #expect(records[0].job.expires - records[0].job.queued == 7 * 86_400_000)
        let sources = try OutboxSources.make(job, [0, 1], in: store)
        #expect(sources.map(\.offered) == [text.offered, url.offered])
    }

    @Test("a number is not given twice, also when its job is gone")
    func numbers() throws {
        let path = folder.file("a.txt")
        let first = try store.queue(path)
        try FileManager.default.removeItem(atPath: store.folder + "/\(first)")
        #expect(try store.queue(path) == JobNumber(2))
        try FileManager.default.removeItem(atPath: store.folder + "/next")
        #expect(try store.queue(path) == JobNumber(3))
    }

    @Test("a copy is the state at the time of queuing, with folders, links, times and the executable bit")
    func copies() throws {
        let manager = FileManager.default
        try manager.createDirectory(atPath: folder / "tree/sub", withIntermediateDirectories: true)
        folder.file("tree/run.sh", "#!/bin/sh\n", mode: 0o755)
        folder.file("tree/sub/b.txt", "bee")
        symlink("sub/b.txt", folder / "tree/link")
        let old = Date(timeIntervalSince1970: 1_500_000_000)
        try manager.setAttributes([.modificationDate: old], ofItemAtPath: folder / "tree/sub/b.txt")
        let draft = try OutboxDraft.make(in: store)
        try draft.addCopy(of: ItemSources.make(path: folder / "tree"))
        let job = try draft.commit(to: .init(text: "kitchen"), at: someTime)
        try manager.removeItem(atPath: folder / "tree")
        let source = try OutboxSources.make(job, [0], in: store)[0]
        #expect(source.offered.name.text == "tree")
        #expect(source.offered.entries == 5)
        let copy = store.path(ofCopy: "0", in: job.number)
        #expect(try String(contentsOfFile: copy + "/link", encoding: .utf8) == "bee")
        #expect(manager.isExecutableFile(atPath: copy + "/run.sh"))
        let attributes = try manager.attributesOfItem(atPath: copy + "/sub/b.txt")
        #expect(attributes[.modificationDate] as? Date == old)
    }

    @Test("a referenced file or folder that was changed is noticed, and named", arguments: [false, true])
    func changed(isTree: Bool) throws {
        try FileManager.default.createDirectory(atPath: folder / "tree", withIntermediateDirectories: true)
        let file = folder.file("tree/a.txt", "one")
        let number = try store.queue(isTree ? folder / "tree" : file)
        let job = try store.record(number).job
        _ = try OutboxSources.make(job, [0], in: store)
        folder.file("tree/a.txt", "two")
        let failure = #expect(throws: OutboxJobError.self) { try OutboxSources.make(job, [0], in: store) }
        #expect(failure?.code == .changed)
        #expect(failure?.isFinal == true)
        try FileManager.default.removeItem(atPath: folder / "tree")
        let missing = #expect(throws: OutboxJobError.self) { try OutboxSources.make(job, [0], in: store) }
        #expect(missing?.code == .inputMissing)
    }

    @Test("copies are bounded, together with those of other jobs, and a refused copy leaves nothing")
    func bounded() throws {
        let path = folder.file("a.bin", String(repeating: "x", count: 3_000))
        func copy() throws -> OutboxJob {
            let draft = try OutboxDraft.make(in: store, quota: 5_000)
            try draft.addCopy(of: ItemSources.make(path: path))
            return try draft.commit(to: .init(text: "kitchen"), at: someTime)
        }
        _ = try copy()
        let full = #expect(throws: OutboxError.self) { try copy() }
        #expect(full?.code == .full)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder).sorted() == ["1", "next"])
    }

    @Test("the remains of a dead maker go with the next sweep, and unfinished jobs of living ones stay")
    func leftDrafts() throws {
        let living = try OutboxDraft.make(in: store)
        try FileManager.default.createDirectory(
            atPath: store.folder + "/.new-dead/items", withIntermediateDirectories: true)
        try store.sweep(at: someTime)
        try living.addText("x", offered: TextSource("x").offered)
        _ = try living.commit(to: .init(text: "kitchen"), at: someTime)
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder).sorted() == ["1", "next"])
    }

    @Test("a damaged job is reported, and delays no other")
    func damaged() throws {
        let path = folder.file("a.txt")
        let (first, second) = (try store.queue(path), try store.queue(path))
        try "{".write(toFile: store.folder + "/\(first)/job.json", atomically: false, encoding: .utf8)
        let contents = try store.contents()
        #expect(contents.records.map(\.number) == [second])
        #expect(contents.faults.count == 1)
    }

    @Test("a bit that is flipped anywhere in a job, or in how far it has come, keeps it from being sent")
    func flipped() throws {
        let draft = try OutboxDraft.make(in: store)
        try draft.addText("x", offered: TextSource("x").offered)
        let number = try draft.commit(to: .init(text: "kitchen", key: .sample(1)), at: someTime).number
        _ = try store.change(number) { _, standing in
            standing.isReported = true
            return true
        }
        var dice = SeededNumbers(seed: 22)
        for document in ["job.json", "standing.json"] {
            let path = store.folder + "/\(number)/\(document)"
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            for index in whole.indices {
                var bytes = whole
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
                try bytes.write(to: URL(fileURLWithPath: path))
                let contents = try store.contents()
                #expect(contents.records.isEmpty)
                #expect(contents.faults.first?.contains("waft outbox remove \(number)") == true)
            }
            try whole.write(to: URL(fileURLWithPath: path))
            #expect(try store.record(number).job.destination.key == .sample(1))
        }
        folder.file("state/outbox/\(number)/job.json", "x")
        try store.remove(number)
        #expect(try store.contents().faults.isEmpty)
    }

    @Test("a cancelled job loses its copies and is not tried again; a failed one keeps them and is")
    func cancelAndRetry() throws {
        func copy() throws -> JobNumber {
            let draft = try OutboxDraft.make(in: store)
            try draft.addCopy(of: ItemSources.make(path: folder.file("a.txt", "x")))
            return try draft.commit(to: .init(text: "kitchen"), at: someTime).number
        }
        let (first, second) = (try copy(), try copy())
        try store.cancel(first, at: someTime)
        #expect(try store.record(first).standing.state == .cancelled)
        #expect(!FileManager.default.fileExists(atPath: store.path(ofCopy: "0", in: first)))
        #expect(throws: OutboxError.self) { try store.retry(first, at: someTime) }
        #expect(throws: OutboxError.self) { try store.cancel(first, at: someTime) }
        _ = try store.change(second) { job, standing in
            standing.end(job, OutboxJobError(.declined, "declined", isFinal: true), at: someTime)
            return true
        }
        try store.sweep(at: someTime)
        #expect(FileManager.default.fileExists(atPath: store.path(ofCopy: "0", in: second)))
        try store.retry(second, at: someTime)
        #expect(try store.record(second).standing.state == .waiting)
    }

    @Test(
        "a finished job can be removed, with its copies, and so can an unreadable one; a waiting or active one cannot")
    func removing() throws {
        let path = folder.file("a.txt", "x")
        let numbers = try (0..<4).map { _ in
            let draft = try OutboxDraft.make(in: store)
            try draft.addCopy(of: ItemSources.make(path: path))
            return try draft.commit(to: .init(text: "kitchen"), at: someTime).number
        }
        try store.cancel(numbers[0], at: someTime)
        try store.remove(numbers[0])
        #expect(throws: OutboxError.self) { try store.record(numbers[0]) }
        #expect(#expect(throws: OutboxError.self) { try store.remove(numbers[0]) }?.code == .unknown)
        #expect(#expect(throws: OutboxError.self) { try store.remove(numbers[1]) }?.code == .unfit)
        _ = try store.change(numbers[1]) { _, standing in
            standing.begin()
            return true
        }
        #expect(#expect(throws: OutboxError.self) { try store.remove(numbers[1]) }?.code == .unfit)
        try "{".write(toFile: store.folder + "/\(numbers[2])/job.json", atomically: false, encoding: .utf8)
        try store.remove(numbers[2])
        _ = try store.change(numbers[3]) { job, standing in
            standing.end(job, OutboxJobError(.declined, "no", isFinal: true), at: someTime)
            return true
        }
        #expect(try store.removeFinal() == 1)
        #expect(try store.removeFinal() == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: store.folder).sorted() == ["\(numbers[1])", "next"])
        // A number is not given twice for that.
        #expect(try store.queue(path) == JobNumber(5))
    }

    @Test("copies leave the required part of the disk free")
    func reserve() throws {
        let path = folder.file("a.bin", "x")
        func copy(_ reserve: @escaping @Sendable (UInt64) -> UInt64) throws {
            try OutboxDraft.make(in: store, reserve: reserve).addCopy(of: ItemSources.make(path: path))
        }
        try copy { _ in 0 }
        #expect(#expect(throws: OutboxError.self) { try copy { $0 } }?.code == .full)
    }

    @Test("a finished job is forgotten after its time, once the user was notified")
    func forgetting() throws {
        let number = try store.queue(folder.file("a.txt"))
        _ = try store.change(number) { job, standing in
            standing.settle([0: .stored("a.txt")])
            standing.end(job, nil, at: someTime)
            return true
        }
        let later = WallTime(milliseconds: someTime.milliseconds + OutboxLimits.remembered + 1)
        try store.sweep(at: later)
        #expect(try store.contents().records.count == 1)
        _ = try store.change(number) { _, standing in
            standing.isReported = true
            return true
        }
        try store.sweep(at: later)
        #expect(try store.contents().records.isEmpty)
    }
}
