import Digests
import Executors
import Glibc
import Sharing
import TestSupport
import Testing

/// A transfer with its Inbox and its reports, and the steps of a sender.
struct Receiving {
    let offer: Offer
    let inbox: MemoryInbox
    let journal: MemoryJournal
    let transfer: IncomingTransfer
    let arrivals = Recorder<Arrival>()
    /// Of each arrival, whether it awaits a handler.
    let deliveries = Recorder<Bool>()
    let progress = Recorder<UInt64>()

    init(
        _ offer: Offer, into inbox: MemoryInbox = MemoryInbox(), journal: MemoryJournal = MemoryJournal(),
        verdict: Verdict? = nil, binding: OfferBinding = .exact
    ) {
        self.offer = offer
        self.inbox = inbox
        self.journal = journal
        transfer = IncomingTransfer(
            offer: offer,
            verdict: verdict ?? Verdict(all: .accepted, count: offer.items.count),
            peer: .sample(1),
            binding: binding,
            storage: ArrivalStorage(inbox, journal, isDelivered: { _ in true })
        ) { [arrivals, deliveries, progress] report in
            switch report {
            case .stored(let stored):
                for stored in stored {
                    arrivals.record(stored.arrival)
                    deliveries.record(stored.awaitsDelivery)
                }
            case .progressed(let bytes): progress.record(bytes)
            }
        }
    }

    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in try transfer.write(bytes) }
    }

    func sendFile(_ bytes: [UInt8], path: SafeRelativePath? = nil) throws {
        try transfer.beginFile(FileEntry(path: path, executable: false, modified: nil, size: UInt64(bytes.count)))
        if !bytes.isEmpty { try write(bytes) }
        try transfer.endFile(digest: .of(transfer.digestAlgorithm, bytes))
    }

    /// A whole item that is a file.
    func sendItem(_ number: Int, _ bytes: [UInt8]) throws {
        try transfer.beginItem(number)
        try sendFile(bytes)
        try transfer.endItem(digest: .of(transfer.digestAlgorithm, bytes))
    }
}

private let hello = Array("hello".utf8)

@Suite("A transfer that comes in")
struct IncomingTransferTests {
    @Test("a file is stored under its name with its bytes, and the receipt confirms it")
    func oneFile() throws {
        let receiving = Receiving(.sample())
        try receiving.sendItem(0, hello)
        let receipt = try receiving.transfer.finish()
        #expect(receiving.inbox["file-0"]?.bytes == hello)
        let digest = Digest.of(.xxh3_128, hello)
        #expect(receipt.items == [ItemReceipt(.stored(name: "file-0", size: 5, digest: digest))])
        #expect(receipt.transfer == receiving.offer.transfer)
        #expect(receiving.inbox.stagedCount == 0)
    }

    @Test("a handler gets the offered facts and the received item")
    func arrival() throws {
        var offer = Offer.sample(items: 2)
        offer.annotation = ["note": "hi"]
        let receiving = Receiving(offer, verdict: Verdict(items: [ItemVerdict(.declined), .accepted]))
        try receiving.sendItem(1, hello)
        _ = try receiving.transfer.finish()
        let arrival = try #require(receiving.arrivals.all.first)
        #expect(receiving.arrivals.count == 1)
        #expect((arrival.itemNumber, arrival.itemsInOffer, arrival.size) == (1, 2, 5))
        #expect(arrival.item == offer.items[1])
        #expect(arrival.stored == StoredItem(name: safe("file-1"), path: "/memory/Inbox/file-1"))
        #expect((arrival.peer, arrival.senderName, arrival.annotation) == (.sample(1), "a test", ["note": "hi"]))
        #expect(arrival.digest == .of(.lasting, hello) && arrival.sentDigest == .of(.xxh3_128, hello))
    }

    @Test("a name that is taken is numbered, and receipt and arrival say the new one")
    func nameTaken() throws {
        let inbox = MemoryInbox()
        for _ in 0..<2 {
            let receiving = Receiving(.sample(), into: inbox)
            try receiving.sendItem(0, hello)
            _ = try receiving.transfer.finish()
        }
        #expect(inbox.names == ["file-0", "file-0-1"])
    }

    @Test("progress counts the bytes of all items")
    func progress() throws {
        let receiving = Receiving(.sample(items: 2))
        try receiving.sendItem(0, hello)
        try receiving.sendItem(1, hello)
        #expect(receiving.progress.all == [5, 10])
    }

    @Test("a tree keeps folders, files, links and times, and has the digest of its listing")
    func wholeTree() throws {
        let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 5)
        var offer = Offer.sample()
        offer.items = [
            OfferedItem(kind: .tree, name: safe("tree"), type: uniform("public.folder"), size: 5, entries: 4)
        ]
        let receiving = Receiving(offer)
        let transfer = receiving.transfer
        let folder = try SafeRelativePath("d")
        let file = try SafeRelativePath("d/x")
        let link = try SafeRelativePath("l")
        let target = try SafeLinkTarget("d/x", of: link)
        try transfer.beginItem(0)
        try transfer.folder(folder)
        try transfer.beginFile(FileEntry(path: file, executable: true, modified: time, size: 5))
        try receiving.write(hello)
        try transfer.endFile(digest: .of(.xxh3_128, hello))
        try transfer.folderClosed(folder, modified: time)
        try transfer.link(link, target: target)
        try transfer.folderClosed(nil, modified: time)
        var listing = TreeListing(.xxh3_128)
        listing.folder(folder)
        listing.file(file, executable: true, digest: .of(.xxh3_128, hello))
        listing.link(link, target: target)
        try transfer.endItem(digest: listing.finalize())
        _ = try transfer.finish()
        #expect(
            receiving.inbox["tree"]?.entries == [
                "": .folder(modified: time), "d": .folder(modified: time),
                "d/x": .file(hello, executable: true, modified: time), "l": .link(target: "d/x"),
            ])
    }

    @Test("the digest of a tree on disk has no executable bits if the disk keeps none, the sender's has them")
    func withoutModes() throws {
        func digests(executable: Bool, keepsModes: Bool) throws -> ContentSums.Pair {
            var listing = ListingSums(.lasting, keepsModes: keepsModes)
            var sums = ContentSums(.lasting)
            hello.withUnsafeBytes { sums.update($0) }
            listing.file(try SafeRelativePath("x"), executable: executable, digests: sums.finalize())
            return listing.finalize()
        }
        let (plain, kept) = (
            try digests(executable: false, keepsModes: true), try digests(executable: true, keepsModes: true)
        )
        let lost = try digests(executable: true, keepsModes: false)
        #expect(
            lost.sent == kept.sent && lost.lasting == kept.lasting && lost.onDisk == plain.onDisk
                && kept.onDisk != plain.onDisk)
    }

    @Test("the verdict's digest is the one that is checked", arguments: DigestAlgorithm.allCases)
    func algorithms(algorithm: DigestAlgorithm) throws {
        let receiving = Receiving(.sample(), verdict: Verdict(items: [.accepted], digest: algorithm))
        try receiving.sendItem(0, hello)
        let receipt = try receiving.transfer.finish()
        #expect(receipt.items[0].outcome == .stored(name: "file-0", size: 5, digest: .of(algorithm, hello)))
    }

    @Test("many small items are committed in batches, and each arrives when its batch does")
    func batches() throws {
        let receiving = Receiving(.sample(items: 1_100))
        for number in 0..<1_100 {
            try receiving.sendItem(number, hello)
            // This waits for the commit that runs.
            #expect(receiving.transfer.tally.storedNow == (number + 1) / 384 * 384)
            #expect(receiving.arrivals.count == (number + 1) / 384 * 384)
        }
        _ = try receiving.transfer.finish()
        #expect(receiving.inbox.batches == [384, 384, 332])
        #expect(receiving.arrivals.all.map(\.itemNumber) == Array(0..<1_100))
    }

    @Test(
        "a full batch is committed by another thread while the next items come, the rest by the thread of the contents")
    func commitsBehind() throws {
        let threads = Recorder<Bool>()
        let receiver = pthread_self()
        let journal = MemoryJournal(fault: { operation in
            if case .intend = operation { threads.record(pthread_equal(pthread_self(), receiver) != 0) }
            return nil
        })
        let receiving = Receiving(.sample(items: 513), journal: journal)
        for number in 0..<513 { try receiving.sendItem(number, hello) }
        let receipt = try receiving.transfer.finish()
        #expect(threads.all == [false, true])
        #expect(receipt.items.allSatisfy(\.isStored) && receiving.inbox.stagedCount == 0)
    }

    @Test("fewer than eight whole items wait with their files open, even while a commit waits for the disk")
    func fewWait() throws {
        let (lookedInto, isFirst) = (Recorder<Bool>(), Recorder<Bool>())
        let (begun, disk) = (Semaphore(), Semaphore())
        let inbox = MemoryInbox { operation in
            if operation == .contentVerdict { lookedInto.record(true) }
            return nil
        }
        let journal = MemoryJournal(fault: { operation in
            guard case .intend = operation, isFirst.count == 0 else { return nil }
            isFirst.record(true)
            begun.signal()
            disk.wait()
            return nil
        })
        let receiving = Receiving(.sample(items: 767), into: inbox, journal: journal)
        for number in 0..<767 {
            if number == 384 { begun.wait() }
            try receiving.sendItem(number, hello)
            if number >= 384 { #expect(number + 1 - lookedInto.count < 8) }
        }
        disk.signal()
        #expect(try receiving.transfer.finish().items.allSatisfy(\.isStored))
        #expect(lookedInto.count == 767 && inbox.batches == [384, 383])
    }

    @Test("a large item is committed without waiting for those behind it")
    func largeItem() throws {
        let bytes = Array(repeating: UInt8(7), count: 1 << 20)
        let receiving = Receiving(.sample(items: 2, size: 64 << 20))
        try receiving.transfer.beginItem(0)
        try receiving.transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 64 << 20))
        var digest = DigestState(.xxh3_128)
        for _ in 0..<64 {
            try receiving.write(bytes)
            digest.update(bytes)
        }
        let sum = digest.finalize()
        try receiving.transfer.endFile(digest: sum)
        try receiving.transfer.endItem(digest: sum)
        #expect(receiving.transfer.tally.storedNow == 1)
        #expect(receiving.inbox.names == ["file-0"])
    }

    @Test("an item that cannot be committed reports its fault, and the others are stored all the same")
    func failingCommit() throws {
        let full = TransferError(.storage, "the disk says no")
        let inbox = MemoryInbox { $0 == .commit(name: "file-1") ? full : nil }
        let receiving = Receiving(.sample(items: 3), into: inbox)
        for number in 0..<3 { try receiving.sendItem(number, hello) }
        let receipt = try receiving.transfer.finish()
        #expect(inbox.names == ["file-0", "file-2"])
        #expect(receipt.items[1].outcome == .failed(full))
        #expect(receiving.arrivals.all.map(\.itemNumber) == [0, 2])
        #expect(inbox.stagedCount == 0)
    }

    @Test("contents with another digest than the offered one end the transfer, and nothing of the item is left")
    func fileDigestMismatch() throws {
        let receiving = Receiving(.sample())
        try receiving.transfer.beginItem(0)
        try receiving.transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
        try receiving.write(hello)
        let fault = #expect(throws: TransferError.self) {
            try receiving.transfer.endFile(digest: .of(.xxh3_128, Array("hullo".utf8)))
        }
        #expect(fault?.code == .digestMismatch)
        let receipt = receiving.transfer.fail(try #require(fault))
        #expect(receipt.items[0].outcome == .failed(try #require(fault)))
        #expect(receiving.inbox.names.isEmpty)
        #expect(receiving.inbox.stagedCount == 0)
    }

    @Test("a digest of another algorithm is another digest")
    func wrongAlgorithm() throws {
        let receiving = Receiving(.sample(size: 0))
        try receiving.transfer.beginItem(0)
        try receiving.transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 0))
        #expect(throws: TransferError.self) { try receiving.transfer.endFile(digest: .of(.sha256, [])) }
    }

    @Test("a tree whose listing differs from the offered one is not stored")
    func treeDigestMismatch() throws {
        var offer = Offer.sample()
        offer.items = [
            OfferedItem(kind: .tree, name: safe("tree"), type: uniform("public.folder"), size: 0, entries: 2)
        ]
        let receiving = Receiving(offer)
        try receiving.transfer.beginItem(0)
        try receiving.transfer.folder(try SafeRelativePath("a"))
        var listing = TreeListing(.xxh3_128)
        listing.folder(try SafeRelativePath("b"))
        let digest = listing.finalize()
        let fault = try #require(
            #expect(throws: TransferError.self) { try receiving.transfer.endItem(digest: digest) })
        #expect(fault.code == .digestMismatch)
        _ = receiving.transfer.fail(fault)
        #expect(receiving.inbox.names.isEmpty)
        #expect(receiving.inbox.stagedCount == 0)
    }

    @Test("an item given up by its sender leaves nothing, and the others are stored")
    func abandoned() throws {
        let changed = TransferError(.changed, "it changed")
        let receiving = Receiving(.sample(items: 3))
        try receiving.sendItem(0, hello)
        try receiving.transfer.beginItem(1)
        try receiving.transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
        try receiving.write([1, 2])
        try receiving.transfer.abandonItem(1, changed)
        #expect(receiving.inbox.stagedCount == 1)  // only item 0, which waits for its commit
        try receiving.sendItem(2, hello)
        let receipt = try receiving.transfer.finish()
        #expect(receiving.inbox.names == ["file-0", "file-2"])
        #expect(receipt.items[1].outcome == .failed(changed))
        #expect(receiving.inbox.stagedCount == 0)
    }

    @Test("an item can be given up before it has begun")
    func abandonedBefore() throws {
        let receiving = Receiving(.sample())
        try receiving.transfer.abandonItem(0, TransferError(.unreadable, "gone"))
        let receipt = try receiving.transfer.finish()
        #expect(receipt.items[0].outcome == .failed(TransferError(.unreadable, "gone")))
        #expect(receiving.inbox.everStagedCount == 0)
    }

    @Test(
        "a fault stores the complete items, unless it is to stop now, and keeps the parts that can be resumed",
        arguments: TransferError.Code.allCases)
    func faultInTheMiddle(code: TransferError.Code) throws {
        let fault = TransferError(code, "that was it")
        let receiving = Receiving(
            .sample(items: 4), verdict: Verdict(items: [.accepted, .accepted, ItemVerdict(.declined), .accepted]))
        try receiving.sendItem(0, hello)
        try receiving.transfer.beginItem(1)
        try receiving.transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 5))
        try receiving.write([1, 2])
        let receipt = receiving.transfer.fail(fault)
        if code == .stopping {
            #expect(receiving.inbox.names.isEmpty)
            #expect(receipt.items[0].outcome == .failed(fault))
        } else {
            #expect(receiving.inbox.names == ["file-0"])
            #expect(receiving.arrivals.count == 1)
        }
        #expect(receipt.items[1].outcome == .failed(fault))
        #expect(receipt.items[2].outcome == .notSent)
        #expect(receipt.items[3].outcome == .notSent)
        #expect(receiving.inbox.stagedCount == 0)
        let whole = code == .stopping ? [hello] : []
        #expect(
            receiving.inbox.kept.values.compactMap { $0[""]?.bytes }.sorted { $0.count > $1.count }
                == whole + (fault.isResumable ? [[1, 2]] : []))
    }

    @Test("items that were complete before the connection broke are stored, and the receipt has them")
    func committedBefore() throws {
        let receiving = Receiving(.sample(items: 513))
        for number in 0..<513 { try receiving.sendItem(number, hello) }
        let receipt = receiving.transfer.fail(TransferError(.interrupted, "gone"))
        #expect(receiving.inbox.names.count == 513)
        #expect(receipt.items.allSatisfy { $0.isStored })
        #expect(receiving.inbox.stagedCount == 0)
    }

    @Test(
        "a disk that fails at any step ends the transfer with its own words, and leaves nothing",
        arguments: [
            .stage(item: 0), .beginFile(path: ""), .write(total: 5), .endFile,
        ] as [MemoryInbox.Operation])
    func failingDisk(operation: MemoryInbox.Operation) throws {
        let full = TransferError(.noRoom, "the disk is full")
        let receiving = Receiving(.sample(), into: MemoryInbox { $0 == operation ? full : nil })
        let fault = #expect(throws: TransferError.self) { try receiving.sendItem(0, hello) }
        #expect(fault == full)
        let receipt = receiving.transfer.fail(full)
        #expect(receipt.items[0].outcome == .failed(full))
        #expect(receiving.inbox.stagedCount == 0)
        #expect(receiving.inbox.names.isEmpty)
    }

    @Test("two entries of one name end the transfer")
    func collision() throws {
        var offer = Offer.sample()
        offer.items = [
            OfferedItem(kind: .tree, name: safe("tree"), type: uniform("public.folder"), size: 0, entries: 4)
        ]
        let receiving = Receiving(offer)
        try receiving.transfer.beginItem(0)
        try receiving.transfer.folder(try SafeRelativePath("a"))
        let fault = #expect(throws: TransferError.self) { try receiving.transfer.folder(try SafeRelativePath("a")) }
        #expect(fault?.code == .unsafeName)
        _ = receiving.transfer.fail(try #require(fault))
        #expect(receiving.inbox.stagedCount == 0)
    }

    @Test("a transfer without an end leaves nothing")
    func forgotten() throws {
        let inbox = MemoryInbox()
        do {
            let receiving = Receiving(.sample(items: 2), into: inbox)
            try receiving.sendItem(0, hello)
            try receiving.transfer.beginItem(1)
            #expect(inbox.stagedCount == 2)
        }
        #expect(inbox.stagedCount == 0)
        #expect(inbox.names.isEmpty)
    }
}

@Suite("The listing of a tree")
struct TreeListingTests {
    @Test("its bytes are those of the protocol")
    func vector() throws {
        let file = Digest.of(.sha256, hello)
        var listing = TreeListing(.sha256)
        listing.folder(try SafeRelativePath("d"))
        listing.file(try SafeRelativePath("d/f"), executable: false, digest: file)
        listing.file(try SafeRelativePath("d/x"), executable: true, digest: file)
        let link = try SafeRelativePath("l")
        listing.link(link, target: try SafeLinkTarget("d/f", of: link))
        var bytes: [UInt8] = Array("dd\0\0".utf8)
        bytes += Array("fd/f\0".utf8) + file.bytes + [0]
        bytes += Array("xd/x\0".utf8) + file.bytes + [0]
        bytes += Array("ll\0d/f\0".utf8)
        #expect(listing.finalize() == .of(.sha256, bytes))
        // The same by `printf 'dd\0\0fd/f\0…' | sha256sum`.
        #expect(
            Digest.of(.sha256, bytes).description
                == "sha-256:55450de4aad71702c4ae47dc5954aff8b1ad57cbf6e898e43b277d871ec837ec")
    }

    @Test("an empty tree has the digest of nothing")
    func empty() {
        var listing = TreeListing(.xxh3_128)
        #expect(listing.finalize() == .of(.xxh3_128, []))
    }

    /// One entry, as data: a listing cannot be handed to a closure.
    enum Line: Sendable {
        case folder(String)
        case file(String, executable: Bool, [UInt8])
        case link(String, to: String)
    }

    @Test("each difference between two trees shows")
    func differences() throws {
        let lines: [Line] = [
            .folder("p"), .folder("q"), .file("p", executable: false, hello), .file("p", executable: true, hello),
            .file("p", executable: false, []), .link("p", to: "q"), .link("p", to: "r"),
        ]
        var sums: Set<Digest> = []
        for line in lines {
            var listing = TreeListing(.xxh3_128)
            switch line {
            case .folder(let path):
                listing.folder(try SafeRelativePath(path))
            case .file(let path, let executable, let bytes):
                let digest = Digest.of(.xxh3_128, bytes)
                listing.file(try SafeRelativePath(path), executable: executable, digest: digest)
            case .link(let path, let target):
                let path = try SafeRelativePath(path)
                listing.link(path, target: try SafeLinkTarget(target, of: path))
            }
            sums.insert(listing.finalize())
        }
        #expect(sums.count == lines.count)
    }
}

@Suite("A transfer and the journal")
struct JournalledTransferTests {
    @Test("an item is recorded before it can be seen in the Inbox, and its name after")
    func order() throws {
        let steps = Recorder<String>()
        let journal = MemoryJournal(fault: { operation in
            if case .intend(let count) = operation { steps.record("intend \(count)") }
            if case .settle(let count) = operation { steps.record("settle \(count)") }
            return nil
        })
        let inbox = MemoryInbox { operation in
            if case .commit(let name) = operation { steps.record("move \(name)") }
            return nil
        }
        let receiving = Receiving(.sample(items: 2), into: inbox, journal: journal)
        for number in 0...1 { try receiving.sendItem(number, hello) }
        _ = try receiving.transfer.finish()
        #expect(steps.all == ["intend 2", "move file-0", "move file-1", "settle 2"])
        #expect(receiving.arrivals.all.map(\.number) == journal.entries.map(\.number))
        #expect(journal.entries.map(\.entry.state) == [.waiting, .waiting])
        #expect(journal.entries.map(\.entry.stored?.name.text) == ["file-0", "file-1"])
    }

    @Test("an item that cannot be recorded is not stored, and the receipt has the reason")
    func journalIsFull() throws {
        let journal = MemoryJournal(fault: { operation in
            if case .intend = operation { return TransferError(.noRoom, "the disk is full") }
            return nil
        })
        let receiving = Receiving(.sample(), journal: journal)
        try receiving.sendItem(0, hello)
        let receipt = try receiving.transfer.finish()
        #expect(receipt.items == [ItemReceipt(.failed(TransferError(.noRoom, "the disk is full")))])
        #expect(receiving.inbox.names.isEmpty)
        #expect(receiving.inbox.stagedCount == 0)
        #expect(receiving.arrivals.count == 0)
    }

    @Test("the journal forgets an item that could not be moved in")
    func notMoved() throws {
        let fault = TransferError(.storage, "no")
        let inbox = MemoryInbox { $0 == .commit(name: "file-0") ? fault : nil }
        let receiving = Receiving(.sample(items: 2), into: inbox)
        for number in 0...1 { try receiving.sendItem(number, hello) }
        _ = try receiving.transfer.finish()
        #expect(receiving.journal.entries.map(\.entry.stored?.name.text) == ["file-1"])
        #expect(receiving.journal.unsettled.isEmpty)
    }

    @Test("an item in the Inbox that could not be settled is stored, and settled at the next start")
    func notSettled() throws {
        let journal = MemoryJournal(fault: { operation in
            if case .settle = operation { return TransferError(.storage, "no") }
            return nil
        })
        let receiving = Receiving(.sample(), journal: journal)
        try receiving.sendItem(0, hello)
        let receipt = try receiving.transfer.finish()
        #expect(receipt.items == [ItemReceipt(.stored(name: "file-0", size: 5, digest: .of(.xxh3_128, hello)))])
        #expect(journal.unsettled.map(\.name.text) == ["file-0"])
    }

    @Test("an item whose contents cannot be looked into fails by itself, and the others are stored")
    func unlooked() throws {
        let asked = Recorder<Void>()
        let inbox = MemoryInbox { operation in
            guard operation == .contentVerdict else { return nil }
            asked.record(())
            return asked.count == 2 ? TransferError(.storage, "cannot look into it") : nil
        }
        let receiving = Receiving(.sample(items: 3), into: inbox)
        for number in 0..<3 { try receiving.sendItem(number, hello) }
        let receipt = try receiving.transfer.finish()
        #expect(receipt.items.map(\.isStored) == [true, false, true])
        #expect(receipt.items[1].outcome == .failed(TransferError(.storage, "cannot look into it")))
        #expect(inbox.names == ["file-0", "file-2"])
        #expect(inbox.stagedCount == 0)
    }
}
