import Digests
import TestSupport
import Testing

@testable import Sharing

@Suite("Items that are sent again")
struct SentAgainTests {
    private let hello = Array("hello".utf8)
    private let peer = PeerID.sample(1)
    private let inbox = MemoryInbox()
    private let journal = MemoryJournal()
    private let delivery = RecordingDelivery()

    private var reception: Reception {
        Reception(
            inbox: inbox, journal: journal, gate: ScriptedGate(), consent: ScriptedConsent(.accept), delivery: delivery,
            observe: { _ in })
    }

    private func offer(_ kind: ItemKind, _ change: (inout Offer) -> Void = { _ in }) -> Offer {
        var offer = Offer.sample()
        offer.items[0].kind = kind
        offer.items[0].size = UInt64(hello.count)
        change(&offer)
        return offer
    }

    /// Sends as Waft does: without the contents if the verdict has their digest.
    /// - Parameter reception: nil for a new one, as after a restart.
    private func send(
        _ offer: Offer, isObedient: Bool = true, to reception: Reception? = nil
    ) async throws -> ItemReceipt {
        let reception = reception ?? self.reception
        let verdict = await reception.judge(offer, from: peer)
        #expect(verdict.acceptsAnything)
        let transfer = try reception.begin(offer.transfer, from: peer)
        if isObedient, verdict.items[0].present != nil {
            try transfer.present(0, digest: .of(.lasting, hello))
        } else {
            try transfer.beginItem(0)
            try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: UInt64(hello.count)))
            try hello.withUnsafeBytes { try transfer.write($0) }
            try transfer.endFile(digest: .of(.xxh3_128, hello))
            try transfer.endItem(digest: .of(.xxh3_128, hello))
        }
        return reception.end(transfer, try transfer.finish(), fault: nil).items[0]
    }

    @Test("an offer of many new items is looked up in the journal a few times, not once for each item")
    func lookUps() async {
        let reads = Recorder<MemoryJournal.Operation>()
        let journal = MemoryJournal(fault: { operation in
            reads.record(operation)
            return nil
        })
        let reception = Reception(
            inbox: inbox, journal: journal, gate: ScriptedGate(), consent: ScriptedConsent(.accept), delivery: delivery,
            observe: { _ in })
        let verdict = await reception.judge(.sample(items: 100), from: peer)
        #expect(verdict.items.allSatisfy { $0.answer == .accepted && $0.present == nil })
        #expect(reads.all.contains(.known(count: 100)) && reads.count < 10)
    }

    @Test("a folder with an executable file is known again by the sender's digest, though its disk keeps no such bits")
    func executable() async throws {
        let inbox = MemoryInbox(keepsModes: false)
        let reception = Reception(
            inbox: inbox, journal: journal, gate: ScriptedGate(), consent: ScriptedConsent(.accept), delivery: delivery,
            observe: { _ in })
        var own = TreeListing(.lasting)
        own.file(try SafeRelativePath("run"), executable: true, digest: .of(.lasting, hello))
        let digest = own.finalize()
        for number in 0..<2 {
            let offer = offer(.tree) { $0.items[0].entries = 2 }
            let verdict = await reception.judge(offer, from: peer)
            let transfer = try reception.begin(offer.transfer, from: peer)
            if verdict.items[0].present != nil {
                try transfer.present(0, digest: digest)
            } else {
                var sent = TreeListing(.xxh3_128)
                sent.file(try SafeRelativePath("run"), executable: true, digest: .of(.xxh3_128, hello))
                try transfer.beginItem(0)
                try transfer.beginFile(
                    FileEntry(path: try SafeRelativePath("run"), executable: true, modified: nil, size: 5))
                try hello.withUnsafeBytes { try transfer.write($0) }
                try transfer.endFile(digest: .of(.xxh3_128, hello))
                try transfer.endItem(digest: sent.finalize())
            }
            let receipt = reception.end(transfer, try transfer.finish(), fault: nil).items[0]
            #expect(receipt.isStored && receipt.isAlready == (number == 1), "\(receipt)")
        }
        #expect(inbox.names.count == 1)
    }

    @Test("a message is new with each transfer, and the same with the same transfer", arguments: [ItemKind.url, .text])
    func messages(kind: ItemKind) async throws {
        let first = offer(kind)
        for message in [first, offer(kind), first, offer(kind)] {
            let receipt = try await send(message)
            #expect(receipt.isStored && !receipt.isAlready)
        }
        // A sender that lost its receipt, and sends the contents all the same.
        let repeated = try await send(first, isObedient: false)
        #expect(repeated.isStored)
        #expect(inbox.names.count == 3 && journal.entries.count == 3 && inbox.stagedCount == 0)
    }

    @Test("a file is stored once, and is a call for each question and each new word about it")
    func files() async throws {
        _ = try await send(offer(.file))
        let plain = try await send(offer(.file))
        #expect(plain.isAlready && !plain.isAgain && journal.entries.count == 1)
        let question = offer(.file) { $0.asksHandlers = true }
        for _ in 1...2 {
            let asked = try await send(question)
            #expect(asked.isStored && asked.isAlready && asked.isAgain)
            #expect(journal.entries.count == 2, "the same transfer is the same call")
        }
        let noted = try await send(offer(.file) { $0.annotation["note"] = "now" })
        let silent = try await send(offer(.file) { $0.annotation["note"] = "now" })
        #expect(noted.isAgain && !silent.isAgain)
        #expect(journal.entries.map(\.entry.again) == [nil, ArrivalNumber(1), ArrivalNumber(1)])
        #expect(inbox.names.count == 1)
    }

    @Test("a sender gets the answer of the handlers after a restart of the receiver", arguments: [false, true])
    func restarted(isAgain: Bool) async throws {
        if isAgain { _ = try await send(offer(.file)) }
        func receiver() -> (reception: Reception, delivery: RecordingDelivery) {
            let delivery = RecordingDelivery(.later)
            let reception = Reception(
                inbox: inbox, journal: journal, gate: ScriptedGate(), consent: ScriptedConsent(.accept),
                delivery: delivery, observe: { _ in })
            return (reception, delivery)
        }
        let question = offer(.file) { $0.asksHandlers = true }
        let first = try await send(question, to: receiver().reception)
        #expect(first.isStored && first.handler.state == .pending && first.isAgain == isAgain)
        let (reception, delivery) = receiver()
        #expect(await reception.receipt(of: question.transfer, from: peer, answered: false)?.items[0] == first)
        async let answered = reception.receipt(of: question.transfer, from: peer, answered: true)
        try await delivery.followed.element(1)
        delivery.answer(item: 0, HandlerAnswer(.yes, exitCode: 0))
        var expected = first
        expected.handler = HandlerAnswer(.yes, exitCode: 0)
        let known = await answered?.items[0]
        #expect(known == expected, "\(String(describing: known)) and not \(expected)")
        // The same if the sender offers the transfer again.
        let last = receiver()
        async let repeated = send(question, to: last.reception)
        #expect(try await repeated.handler.state == .pending)
        try await last.delivery.followed.element(1)
        async let end = last.reception.receipt(of: question.transfer, from: peer, answered: true)
        last.delivery.answer(item: 0, HandlerAnswer(.no, exitCode: 1))
        #expect(await end?.items[0].handler.state == .no)
    }

    @Test("a file that another transfer stores meanwhile is a call of the one that waits for an answer")
    func race() async throws {
        let reception = reception
        let late = offer(.file) { $0.asksHandlers = true }
        _ = await reception.judge(late, from: peer)
        let transfer = try reception.begin(late.transfer, from: peer)
        let other = offer(.file)
        _ = await reception.judge(other, from: peer)
        let first = try reception.begin(other.transfer, from: peer)
        for transfer in [first, transfer] {
            try transfer.beginItem(0)
            try transfer.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: UInt64(hello.count)))
            try hello.withUnsafeBytes { try transfer.write($0) }
            try transfer.endFile(digest: .of(.xxh3_128, hello))
            try transfer.endItem(digest: .of(.xxh3_128, hello))
            _ = reception.end(transfer, try transfer.finish(), fault: nil)
        }
        #expect(journal.entries.map(\.entry.again) == [nil, ArrivalNumber(1)])
        #expect(inbox.names.count == 1)
    }

    @Test("each message of a stranger counts in its quota, and each call for a file as an empty one")
    func quota() async throws {
        _ = try await send(offer(.text))
        _ = try await send(offer(.file))
        #expect(reception.known.coming(of: offer(.text), from: peer).knownFootprint.bytes == 16_384 + 5)
        #expect(reception.known.coming(of: offer(.file), from: peer).knownFootprint.bytes == 0)
        let asked = offer(.file) { $0.asksHandlers = true }
        #expect(reception.known.coming(of: asked, from: peer).knownFootprint.bytes == 16_384)
    }
}
