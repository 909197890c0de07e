import Digests
import Sharing
import TestSupport
import Testing
import UniformTypes

/// The domain's service to protocols in which each file is a request of its own.
@Suite("A transfer whose files come in any order")
struct ScatteredTransferTests {
    private let hello = Array("hello".utf8)
    private let lost = TransferError(.interrupted, "the sender has left")

    /// A folder of two files, and a file.
    private func offer() -> Offer {
        var offer = Offer.sample(items: 2)
        offer.dialect = .mixed
        offer.items[0] = OfferedItem(
            kind: .tree, name: safe("trip"), type: uniform("public.folder"), size: 10, entries: 3)
        return offer
    }

    private func sendPart(_ name: String, in receiving: Receiving) throws {
        try receiving.transfer.beginItem(0)
        try receiving.sendFile(hello, path: try SafeRelativePath(name))
    }

    @Test("a file between two files of a folder is stored at once, and the folder with its last file")
    func between() throws {
        let receiving = Receiving(offer(), binding: .scattered)
        try sendPart("a", in: receiving)
        try receiving.transfer.setAsideItem()
        try receiving.sendItem(1, hello)
        #expect(receiving.inbox.names == ["file-1"])
        try sendPart("b", in: receiving)
        try receiving.transfer.endItem(digest: nil)
        #expect(receiving.inbox.names == ["file-1", "trip"])
        let receipt = receiving.transfer.close(lost)
        #expect(receipt.items.map(\.isStored) == [true, true])
        #expect(receiving.inbox.stagedCount == 0)
    }

    @Test("a file that failed can come again, in a folder and by itself")
    func again() throws {
        let receiving = Receiving(offer(), binding: .scattered)
        try receiving.transfer.beginItem(1)
        try receiving.transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
        try receiving.write([1])
        try receiving.transfer.dropFile(lost)
        try receiving.transfer.beginItem(0)
        try receiving.transfer.beginFile(
            FileEntry(path: try SafeRelativePath("a"), executable: false, modified: nil, size: 5))
        try receiving.write([1, 2])
        try receiving.transfer.dropFile(lost)
        try receiving.sendItem(1, hello)
        try sendPart("a", in: receiving)
        try receiving.transfer.setAsideItem()
        try sendPart("b", in: receiving)
        try receiving.transfer.endItem(digest: nil)
        #expect(receiving.transfer.close(lost).items.map(\.isStored) == [true, true])
        #expect(receiving.inbox["file-1"]?.bytes == hello)
        #expect(receiving.inbox["trip"]?.entries["a"]?.bytes == hello)
        #expect(receiving.inbox.stagedCount == 0)
    }

    @Test("a file that the disk refuses does not keep other files from coming")
    func refusedByTheDisk() throws {
        let full = TransferError(.noRoom, "the disk is full")
        let inbox = MemoryInbox { operation in
            if case .beginFile(path: "b") = operation { full } else { nil }
        }
        let receiving = Receiving(offer(), into: inbox, binding: .scattered)
        try sendPart("a", in: receiving)
        try receiving.transfer.setAsideItem()
        #expect(throws: full) { try sendPart("b", in: receiving) }
        try receiving.transfer.setAsideItem()
        try receiving.sendItem(1, hello)
        _ = receiving.transfer.close(full)
        #expect(receiving.inbox.names == ["file-1", "trip (incomplete)"])
    }

    @Test("a folder of which a part is missing is stored under a name that says so, and no handler gets it")
    func incomplete() throws {
        let receiving = Receiving(offer(), binding: .scattered)
        try sendPart("a", in: receiving)
        try receiving.transfer.setAsideItem()
        let receipt = receiving.transfer.close(lost)
        #expect(receiving.inbox.names == ["trip (incomplete)"])
        #expect(receiving.inbox["trip (incomplete)"]?.entries["a"]?.bytes == hello)
        #expect(receipt.items.map(\.isStored) == [false, false])
        #expect(receiving.deliveries.all == [false])
        #expect(receiving.arrivals.all.map(\.item.name.text) == ["trip (incomplete)"])
    }

    @Test("a file that is open at the end leaves nothing")
    func openFile() throws {
        let receiving = Receiving(offer(), binding: .scattered)
        try receiving.transfer.beginItem(1)
        try receiving.transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
        try receiving.write([1])
        let receipt = receiving.transfer.close(lost)
        #expect(receiving.inbox.names.isEmpty)
        #expect(receiving.inbox.stagedCount == 0)
        #expect(receipt.items[1].outcome == .failed(lost))
    }

    @Test("a folder that has fewer files than were offered cannot end")
    func tooFew() throws {
        let receiving = Receiving(offer(), binding: .scattered)
        try sendPart("a", in: receiving)
        #expect(throws: TransferError.self) { try receiving.transfer.endItem(digest: nil) }
    }

    @Test("an item that was stored cannot come again")
    func twice() throws {
        let receiving = Receiving(offer(), binding: .scattered)
        try receiving.sendItem(1, hello)
        #expect(throws: TransferError.self) { try receiving.transfer.beginItem(1) }
    }
}
