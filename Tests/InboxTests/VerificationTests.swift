import Digests
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Inbox

@Suite("Verifying the Inbox")
struct VerificationTests {
    private let folder = TemporaryFolder()
    private var path: String { folder / "Inbox" }

    private func verify(_ arrival: Arrival, arrived: WallTime = now()) throws -> ItemFinding {
        try InboxVerification.verify(arrival, arrived: arrived, inbox: path)
    }

    @Test("an unchanged item is ok: files and trees, whatever their names are")
    func ok() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let arrivals =
            [
                try inbox.receive("", as: "empty"), try inbox.receive("text", as: "é\u{301} \"'$.txt"),
                try inbox.receive("#!/bin/sh", as: "run.sh", executable: true),
                try inbox.receiveTree(["a": "1", "b/c.sh": "2", "b/d/e": "3"], as: "tree"),
                try inbox.receiveTree([:], as: "empty tree"),
                try inbox.receiveTree(
                    Dictionary(uniqueKeysWithValues: SampleNames.joining.map { ($0 + "/" + $0, $0) }), as: "names"),
            ] + (try SampleNames.joining.map { try inbox.receive("text", as: $0) })
        for arrival in arrivals { #expect(try verify(arrival) == ItemFinding(state: .ok)) }
    }

    @Test("only small files are read ahead, and each is found as it is on the disk then")
    func readAhead() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let small = try ["ok", "rotten", "gone", "link"].map { try inbox.receive("text", as: $0) }
        let others = [
            try inbox.receive(String(repeating: "x", count: 300_000), as: "large"),
            try inbox.receiveTree(["a": "1"], as: "tree"),
        ]
        for arrival in small { #expect(InboxVerification.readAhead(arrival, inbox: path)) }
        for arrival in others { #expect(!InboxVerification.readAhead(arrival, inbox: path)) }
        try rot(path + "/rotten", at: 1)
        unlink(path + "/gone")
        unlink(path + "/link")
        symlink("ok", path + "/link")
        for arrival in small[2...] { #expect(!InboxVerification.readAhead(arrival, inbox: path)) }
        let states = try small.map {
            try InboxVerification.verify($0, arrived: now(), inbox: path, isReadAhead: true).state
        }
        #expect(states == [.ok, .changed, .missing, .changed])
    }

    @Test("a flipped bit in a file is found, and also that no program wrote to it")
    func rotten() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let arrival = try inbox.receive(String(repeating: "x", count: 100_000), as: "a.txt")
        try rot(path + "/a.txt", at: 50_000)
        #expect(try verify(arrival) == ItemFinding(state: .changed, differences: [.contents]))
        // An hour after the arrival, so another program made the change.
        let finding = try verify(arrival, arrived: now(minus: 3_600))
        #expect(finding.touched != nil && finding.differences == [.contents])
    }

    @Test("a bit that is turned in a tree is found, and so is an executable bit")
    func rottenTree() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let arrival = try inbox.receiveTree(["a": "1", "b/c": "22"], as: "tree")
        try rot(path + "/tree/b/c", at: 1)
        #expect(try verify(arrival) == ItemFinding(state: .changed, differences: [.contents]))
        try rot(path + "/tree/b/c", at: 1, to: UInt8(ascii: "2"))
        #expect(try verify(arrival).state == .ok)
        chmod(path + "/tree/a", 0o555)
        #expect(try verify(arrival).differences == [.contents])
    }

    @Test(
        "an item with the checksum of the one that came is found; of an older Waft's item the finding says what it knows"
    )
    func forged() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let (genuine, forged) = (ForgedPair.genuine, ForgedPair.forged)
        let staged = try inbox.stage(transfer: TransferID(), item: 0, isTree: false)
        try staged.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: UInt64(genuine.count)))
        try genuine.withUnsafeBytes { bytes in try staged.write(bytes) }
        try staged.endFile()
        var arrival = Arrival(
            number: ArrivalNumber(1),
            facts: ArrivalFacts(
                transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
                item: OfferedItem(kind: .file, name: safe("a.sh"), type: .data, size: UInt64(genuine.count)),
                size: UInt64(genuine.count), digest: .of(.lasting, genuine), peer: .sample(1), senderName: "study",
                annotation: [:]),
            stored: try inbox.store(staged, as: "a.sh"))
        #expect(try verify(arrival) == ItemFinding(state: .ok))
        chmod(path + "/a.sh", 0o644)
        try Data(forged).write(to: URL(fileURLWithPath: path + "/a.sh"))
        chmod(path + "/a.sh", 0o444)
        #expect(try verify(arrival).differences == [.contents])
        arrival.facts.digest = .of(.xxh3_128, genuine)
        let finding = try verify(arrival)
        #expect(finding.state == .ok && finding.isOnlySummed)
    }

    @Test("an edited item is found with the differences")
    func edited() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let longer = try inbox.receive("text", as: "longer")
        chmod(path + "/longer", 0o644)
        makeFile(path + "/longer", "text and more")
        let finding = try verify(longer)
        #expect(finding.differences == [.size, .mode])
        #expect(finding.detail == "13 bytes instead of 4")
        let tree = try inbox.receiveTree(["a": "1", "b/c": "2"], as: "tree")
        unlink(path + "/tree/a")
        #expect(try verify(tree).differences == [.size, .entries])
        makeFile(path + "/tree/a", "1")
        #expect(try verify(tree).state == .ok)
        rename(path + "/tree/a", path + "/tree/z")
        #expect(try verify(tree).differences == [.contents])
    }

    @Test("another kind of thing is no longer the item, and a link to it neither")
    func otherKinds() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let file = try inbox.receive("text", as: "file")
        rename(path + "/file", folder / "file")
        symlink(folder / "file", path + "/file")
        #expect(try verify(file) == ItemFinding(state: .changed, differences: [.kind], detail: "it is a link now"))
        let tree = try inbox.receiveTree(["a": "1"], as: "tree")
        rename(path + "/tree", folder / "tree")
        symlink(folder / "tree", path + "/tree")
        #expect(try verify(tree).differences == [.kind])
        unlink(path + "/tree")
        makeFile(path + "/tree")
        #expect(try verify(tree) == ItemFinding(state: .changed, differences: [.kind], detail: "it is a file now"))
    }

    @Test("an item that was moved away or deleted is missing, and found again when it comes back")
    func missing() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let arrival = try inbox.receive("text", as: "file")
        rename(path + "/file", folder / "elsewhere")
        #expect(try verify(arrival) == ItemFinding(state: .missing))
        rename(folder / "elsewhere", path + "/file")
        #expect(try verify(arrival).state == .ok)
        rename(path, folder / "Moved")
        #expect(try verify(arrival) == ItemFinding(state: .missing))
    }

    @Test("no link leads to the contents of a folder of the Inbox")
    func destinations() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        var arrival = try inbox.receive("text", as: "file")
        mkdir(path + "/Photos", 0o755)
        rename(path + "/file", path + "/Photos/file")
        arrival.stored.path = path + "/Photos/file"
        #expect(try verify(arrival).state == .ok)
        rename(path + "/Photos", folder / "Photos")
        symlink(folder / "Photos", path + "/Photos")
        #expect(try verify(arrival).state == .missing)
    }

    @Test("an unreadable item is unreadable, not changed")
    func unreadable() throws {
        try #require(geteuid() == 0, "as root only: another user is needed")
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let file = try inbox.receive("text", as: "file")
        chmod(folder.path, 0o755)
        chmod(path, 0o755)
        chmod(path + "/file", 0o400)
        let finding = try asOrdinaryUser { try verify(file) }
        #expect(finding.state == .unreadable && finding.detail.contains("Permission denied"), "\(finding)")
    }

    @Test("reports its progress, and ends on request")
    func progress() throws {
        let inbox = try FileInbox(path: path, reserve: .bytes(0))
        let arrival = try inbox.receive(String(repeating: "x", count: 1_000_000), as: "a")
        var bytes = 0
        _ = try InboxVerification.verify(arrival, arrived: now(), inbox: path) { bytes += $0 }
        #expect(bytes == 1_000_000)
        #expect(throws: StoredDigestError.self) {
            try InboxVerification.verify(arrival, arrived: now(), inbox: path) { _ throws(StoredDigestError) in
                throw StoredDigestError(.cancelled, "a", "enough")
            }
        }
    }
}
