import Digests
import TestSupport
import Testing

@testable import Sharing

@Suite("The same item by several transfers at once")
struct CommitTurnTests {
    private let hello = Array("hello".utf8)

    private func reception(_ inbox: MemoryInbox) -> Reception {
        Reception(
            inbox: inbox, journal: MemoryJournal(), gate: ScriptedGate(), consent: ScriptedConsent(.accept),
            delivery: RecordingDelivery(),
            observe: { _ in })
    }

    /// Makes an offer that is accepted, and of which no item is stored yet.
    private func offer(to reception: Reception, from peer: PeerID, _ items: Int = 1) async -> TransferID {
        let offer = Offer.sample(items: items)
        let verdict = await reception.judge(offer, from: peer)
        #expect(verdict.acceptsAnything)
        #expect(reception.known.recognising(offer, verdict, from: peer).items.allSatisfy { $0.present == nil })
        return offer.transfer
    }

    private func begin(_ id: TransferID, from peer: PeerID, _ reception: Reception, _ bytes: [UInt8]) throws
        -> IncomingTransfer
    {
        let transfer = try reception.begin(id, from: peer)
        for number in transfer.offer.items.indices {
            try transfer.beginItem(number)
            try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: UInt64(bytes.count)))
            try bytes.withUnsafeBytes { try transfer.write($0) }
            try transfer.endFile(digest: .of(.xxh3_128, bytes))
            try transfer.endItem(digest: .of(.xxh3_128, bytes))
        }
        return transfer
    }

    @Test("is stored once for one peer, whichever is whole first, and the others learn that it is there")
    func once() async throws {
        let inbox = MemoryInbox()
        let reception = reception(inbox)
        let peer = PeerID.sample(1)
        var ids: [TransferID] = []
        for _ in 0..<3 { ids.append(await offer(to: reception, from: peer, 2)) }
        let first = try begin(ids[0], from: peer, reception, hello)
        let second = try begin(ids[1], from: peer, reception, hello)
        let stored = reception.end(second, try second.finish(), fault: nil)
        #expect(stored.items.allSatisfy { $0.isStored && !$0.isAlready })
        for transfer in [first, try begin(ids[2], from: peer, reception, hello)] {
            let receipt = reception.end(transfer, try transfer.finish(), fault: nil)
            #expect(receipt.items.map(\.isAlready) == [true, true])
            #expect(receipt.items.map(\.outcome) == stored.items.map(\.outcome))
        }
        #expect(inbox.names == ["file-0", "file-1"] && inbox.stagedCount == 0)
    }

    @Test("is stored again if its contents differ, or if the stored one has gone meanwhile")
    func others() async throws {
        let inbox = MemoryInbox()
        let reception = reception(inbox)
        let peer = PeerID.sample(1)
        var ids: [TransferID] = []
        for _ in 0..<3 { ids.append(await offer(to: reception, from: peer)) }
        for (id, text) in zip(ids, ["hello", "other", "hello"]) {
            let transfer = try begin(id, from: peer, reception, Array(text.utf8))
            #expect(reception.end(transfer, try transfer.finish(), fault: nil).items[0].isAlready == false)
            if text == "hello" { inbox.remove("file-0") }
        }
        #expect(inbox.names == ["file-0-1", "file-0-2"])
    }

    @Test("is stored once for each of many peers that send it at once, each many times")
    func many() async throws {
        let inbox = MemoryInbox()
        let reception = reception(inbox)
        let receipts = await withTaskGroup(of: Receipt?.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let peer = PeerID.sample(UInt8(number % 4))
                    var offer = Offer.sample()
                    var verdict = await reception.judge(offer, from: peer)
                    while !verdict.acceptsAnything {
                        // The peer has too many transfers at once.
                        await Task.yield()
                        offer = Offer.sample()
                        verdict = await reception.judge(offer, from: peer)
                    }
                    let isThere = reception.known.recognising(offer, verdict, from: peer).items[0].present != nil
                    let transfer =
                        try? isThere
                        ? reception.begin(offer.transfer, from: peer)
                        : begin(offer.transfer, from: peer, reception, hello)
                    if isThere { try? transfer?.present(0, digest: .of(.lasting, hello)) }
                    guard let transfer, let receipt = try? transfer.finish() else { return nil }
                    return reception.end(transfer, receipt, fault: nil)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(receipts.allSatisfy { $0?.items[0].isStored == true })
        #expect(receipts.count { $0?.items[0].isAlready == false } == 4)
        #expect(inbox.stored.count == 4 && inbox.stagedCount == 0)
    }
}
