import CLinuxShims
import Digests
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing
import UniformTypes

@testable import Inbox

/// Receives a tree entry by entry, through either protocol.
private final class Coming {
    let transfer: IncomingTransfer
    let journal = MemoryJournal()
    private var listing = TreeListing(.xxh3_128)
    private let dialect: Dialect

    /// - Parameters:
    ///   - size: the offered size, if the dialect states it; likewise `entries`.
    init(_ text: String, into inbox: FileInbox, _ dialect: Dialect, size: UInt64, entries: UInt64) throws {
        let isWaft = dialect == .keyed
        self.dialect = dialect
        let item = OfferedItem(
            kind: .tree, name: try name(text), type: .folder, size: isWaft ? size : nil, entries: isWaft ? entries : nil
        )
        let offer = Offer(items: [item], senderName: "study", dialect: dialect)
        transfer = IncomingTransfer(
            offer: offer, verdict: Verdict(items: [.accepted], digest: .xxh3_128), peer: .sample(1),
            binding: isWaft ? .exact : .announced,
            storage: ArrivalStorage(inbox, journal, isDelivered: { _ in false }), report: { _ in })
        try transfer.beginItem(0)
    }

    /// - Parameter text: nil for a folder.
    func add(_ path: String, _ text: String?) throws {
        let path = try place(path)
        guard let text else {
            listing.folder(path)
            return try transfer.folder(path)
        }
        let bytes = Array(text.utf8)
        try transfer.beginFile(try entry(path.text, size: UInt64(bytes.count)))
        try bytes.withUnsafeBytes { try transfer.write($0) }
        let digest = Digest.of(.xxh3_128, bytes)
        listing.file(path, executable: false, digest: digest)
        try transfer.endFile(digest: dialect == .keyed ? digest : nil)
    }

    /// - Returns: the receipt for the sender, the sender's digest, and the arrival in the journal.
    func end() throws -> (receipt: ItemReceipt, sent: Digest, arrival: Arrival) {
        let sent = listing.finalize()
        try transfer.endItem(digest: dialect == .keyed ? sent : nil)
        let receipt = try transfer.finish().items[0]
        let (number, entry) = try #require(journal.entries.first)
        let arrival = Arrival(number: number, facts: entry.intended.facts, stored: try #require(entry.stored))
        return (receipt, sent, arrival)
    }
}

@Suite("A tree in any order of arrival")
struct ArrivalOrderTests {
    private let folder = TemporaryFolder()

    private static let orders: [[(String, String?)]] = [
        [("z", "1"), ("a", "2"), ("m", nil), ("m/2", "3"), ("m/1", "4"), ("m-", "5")],
        [("a", "2"), ("m", nil), ("m/1", "4"), ("m/2", "3"), ("m-", "5"), ("z", "1")],
    ]

    @Test(
        "every later check finds it unchanged, and its sender gets the digest of the order in which it sent",
        arguments: DialectTable.samples.all, [0, 1])
    func orders(dialect: Dialect, order: Int) throws {
        let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0))
        let isWaft = dialect == .keyed
        let coming = try Coming("tree", into: inbox, dialect, size: 5, entries: 7)
        for (path, text) in Self.orders[order] { try coming.add(path, text) }
        let (receipt, sent, arrival) = try coming.end()
        #expect(arrival.facts.entries == 7)
        #expect(arrival.digest.algorithm == .lasting)
        #expect(arrival.facts.sentDigest == (isWaft ? sent : nil))
        #expect(receipt.outcome == .stored(name: "tree", size: 5, digest: isWaft ? sent : arrival.digest))
        #expect(
            ItemReceipt(arrival, digest: arrival.sentDigest ?? arrival.digest).outcome == receipt.outcome,
            "when it is asked for again")
        let label = ExtendedAttributes.read(Provenance.digest, of: arrival.stored.path)
        #expect(label == nil || label == Array(arrival.digest.description.utf8))
        let verify = { try InboxVerification.verify(arrival, arrived: now(), inbox: inbox.path) }
        #expect(try verify() == ItemFinding(state: .ok))
        try rot(inbox.path + "/tree/m/1", at: 0)
        #expect(try verify() == ItemFinding(state: .changed, differences: [.contents]))
        makeFile(inbox.path + "/tree/more")
        #expect(try verify().differences == [.entries])
    }

    @Test(
        "is one of no more files and folders than leave the reserve's share of the inodes",
        arguments: DialectTable.samples.all.map(\.name))
    func inodes(dialect: String) async {
        await #expect(processExitsWith: .success) { [dialect] in
            let dialect = DialectTable.samples[dialect]
            let folder = TemporaryFolder()
            try inPrivateMounts {
                mkdir(folder / "disk", 0o700)
                #expect(CLinuxShims_mount_tmpfs(folder / "disk", "8m,nr_inodes=1000") == 0)
                defer { umount2(folder / "disk", Int32(MNT_DETACH)) }
                let inbox = try FileInbox(path: folder / "disk/Inbox", reserve: .percent(20))
                let free = try inbox.freeEntries()
                #expect((700...800).contains(free))
                for isFolder in [true, false] {
                    // AirDrop states no number of entries. Waft states it, but more were free when the offer was
                    // accepted.
                    let coming = try Coming("tree", into: inbox, dialect, size: 0, entries: 5_001)
                    let fault = #expect(throws: TransferError.self) {
                        for number in 0..<5_000 { try coming.add("\(number)", isFolder ? nil : "") }
                    }
                    #expect(
                        fault?.code == .noRoom && fault?.message.contains("no free inodes") == true,
                        "\(fault?.message ?? "")")
                    #expect(
                        try DiskRoom.freeEntries(onFileSystemOf: try #require(inbox.staging).folder.raw) >= 200 - 64)
                    if let fault { _ = coming.transfer.fail(fault) }
                    #expect(listing(of: folder / "disk/Inbox").isEmpty)
                    #expect(try inbox.freeEntries() == free, "what is kept makes room when room is needed")
                }
                let coming = try Coming("other", into: inbox, dialect, size: 500, entries: 501)
                for number in 0..<500 { try coming.add("\(number)", "x") }
                #expect(try coming.end().receipt.isStored)
            }
        }
    }
}
