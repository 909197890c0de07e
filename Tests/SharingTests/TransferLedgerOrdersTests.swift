import Digests
import TestSupport
import Testing

@testable import Sharing

@Suite("The ledger of transfers, in random orders")
struct TransferLedgerOrdersTests {
    @Test("each acceptance ends once, each waiting task is resumed once, and no receipt loses an answer")
    func promises() {
        #expect(brokenStory(1_500, steps: 80) { _ in ReceptionWorld() } == nil)
    }

    @Test("the receipts that are remembered have a bound in number and in items")
    func remembering() throws {
        var ledger = TransferLedger()
        let start = ContinuousClock.now
        let peer = PeerID.sample(1)
        for number in 1...1_500 {
            let offer = Offer.sample(items: number.isMultiple(of: 3) ? 90 : 1)
            let blank = Receipt(
                transfer: offer.transfer, items: Array(repeating: ItemReceipt(.notSent), count: offer.items.count))
            let claim = OfferClaim(
                peer: peer, address: nil, isContact: true, items: offer.items.count, bytes: 0, footprint: 0)
            _ = ledger.admit(offer, claim, at: start)
            _ = ledger.settle(
                offer, Verdict(all: .accepted, count: offer.items.count), connection: 1, isWithdrawn: false, at: start)
            _ = ledger.begin(offer.transfer, from: peer, at: start, interrupt: {})
            _ = ledger.end(offer.transfer, from: peer, blank)
        }
        let memory = Mirror(reflecting: ledger).children
        let receipts = try #require(memory.first { $0.label == "finishedOrder" }?.value as? [TransferID])
        let items = try #require(memory.first { $0.label == "rememberedItems" }?.value as? Int)
        #expect(receipts.count <= Limits.rememberedReceipts)
        #expect(items <= Limits.rememberedItems)
    }
}

/// Peers that offer and send, a user who cancels, handlers that answer, a journal that survives restarts, and the tasks
/// that wait for receipts: as `Reception` and its parts use the ledger.
private struct ReceptionWorld: OrderedWorld {
    private struct Visit {
        var offer: Offer
        var peer: PeerID
        var connection: UInt64
        /// The number of its acceptance; 0 before it.
        var acceptance = 0
        var expires: ContinuousClock.Instant
    }

    private struct Contents {
        var visit: Visit
        var turn: CommitTurn
        /// Items that were stored in this attempt.
        var stored: Set<Int> = []
    }

    private struct Place: Hashable {
        var transfer: TransferID
        var item: Int
    }

    private struct Row {
        var arrival: Arrival
        /// Nil while its handlers are asked.
        var answer: HandlerAnswer.State?
    }

    private var ledger = TransferLedger()
    private var now = ContinuousClock.now
    private let start = ContinuousClock.now
    private var offers: [(offer: Offer, peer: PeerID)] = []
    private var asking: [TransferID: Visit] = [:]
    private var accepted: [TransferID: Visit] = [:]
    private var receiving: [TransferID: Contents] = [:]
    private var journal: [Place: Row] = [:]
    private var cancelled: Set<TransferID> = []
    private var isStopped = false
    private var connections: UInt64 = 0

    // The record of the promises.
    private var acceptances = 0
    private var ends: [Int: Int] = [:]
    /// Acceptances of processes that have stopped: nobody is told.
    private var untold: Set<Int> = []
    private var lastWaiter = 0
    private var waiting: [Int: TransferID] = [:]
    private var resumed: [Int: Int] = [:]
    private var faults: [String] = []

    // MARK: Events

    mutating func step(_ dice: inout SeededNumbers) -> String {
        switch Int.random(in: 0..<32, using: &dice) {
        case 0..<5: return offer(&dice)
        case 5..<9: return settleOffer(&dice)
        case 9..<12: return begin(&dice)
        case 12..<16: return store(&dice)
        case 16..<19: return answer(&dice)
        case 19..<22: return end(&dice)
        case 22: return cancel(&dice)
        case 23: return leave(&dice)
        case 24: return pass(.seconds(Int.random(in: 1...70, using: &dice)), isHeard: Bool.random(using: &dice))
        case 25: return hold(&dice)
        case 26, 27, 28: return wait(&dice)
        case 29: return giveUp(&dice)
        case 30: return withdraw(&dice)
        default: return Int.random(in: 0..<3, using: &dice) == 0 ? stopOrRestart() : "nothing"
        }
    }

    private mutating func offer(_ dice: inout SeededNumbers) -> String {
        let isNew = offers.isEmpty || offers.count < 10 && Bool.random(using: &dice)
        if isNew {
            let peer = PeerID.sample(UInt8.random(in: 1...3, using: &dice))
            offers.append((.sample(items: Int.random(in: 1...3, using: &dice)), peer))
        }
        let number = isNew ? offers.count - 1 : Int.random(in: 0..<offers.count, using: &dice)
        let offer = offers[number].offer
        let isOwn = Int.random(in: 0..<6, using: &dice) > 0
        let peer = isOwn ? offers[number].peer : PeerID.sample(4)
        let claim = OfferClaim(
            peer: peer, address: nil, isContact: peer != .sample(3), items: offer.items.count, bytes: offer.knownSize,
            footprint: offer.knownFootprint.bytes)
        let id = offer.transfer
        switch ledger.admit(offer, claim, at: now) {
        case .refused(_, let interrupt):
            interrupt?()
            return "offer \(number) is refused"
        case .admitted(let instead):
            if cancelled.contains(id) { faults.append("a cancelled transfer is admitted again") }
            if isStopped { faults.append("an offer is admitted after the stop") }
            if asking[id] != nil { faults.append("an offer waits twice") }
            if receiving[id] != nil { faults.append("a running transfer is admitted") }
            if instead != nil {
                tellEnd(accepted.removeValue(forKey: id)?.acceptance)
            } else if accepted[id] != nil {
                faults.append("the earlier acceptance is forgotten")
            }
            connections += 1
            asking[id] = Visit(offer: offer, peer: peer, connection: connections, expires: now)
            return "offer \(number) is admitted"
        }
    }

    private mutating func settleOffer(_ dice: inout SeededNumbers) -> String {
        guard var visit = Self.one(of: asking, &dice) else { return "no offer waits" }
        let id = visit.offer.transfer
        let (isYes, isWithdrawn) = (
            Int.random(in: 0..<5, using: &dice) > 0, Int.random(in: 0..<8, using: &dice) == 0
        )
        let answer = Verdict(all: isYes ? .accepted : .no, count: visit.offer.items.count)
        let verdict = ledger.settle(
            visit.offer, answer, connection: visit.connection, isWithdrawn: isWithdrawn, at: now)
        asking[id] = nil
        guard verdict.acceptsAnything, !isWithdrawn else { return "an offer ends without a yes" }
        if isStopped { faults.append("an offer is accepted after the stop") }
        acceptances += 1
        (visit.acceptance, visit.expires) = (acceptances, now + Limits.contentsWait)
        accepted[id] = visit
        return "an offer is accepted"
    }

    private mutating func withdraw(_ dice: inout SeededNumbers) -> String {
        guard let visit = Self.one(of: accepted, &dice) else { return "nothing to withdraw" }
        let isOld = Bool.random(using: &dice)
        let connection = isOld ? visit.connection + 1_000 : visit.connection
        let left = ledger.withdraw(visit.offer.transfer, connection: connection)
        if (left != nil) == isOld { faults.append("a withdrawal ends another's acceptance, or not its own") }
        if left != nil { tellEnd(accepted.removeValue(forKey: visit.offer.transfer)?.acceptance) }
        return "a sender leaves before its answer"
    }

    private mutating func begin(_ dice: inout SeededNumbers) -> String {
        guard let visit = Self.one(of: accepted, &dice) else { return "nothing to begin" }
        let id = visit.offer.transfer
        let isThief = Int.random(in: 0..<8, using: &dice) == 0
        let begun = ledger.begin(id, from: isThief ? .sample(9) : visit.peer, at: now, interrupt: {})
        let may = !isThief && !isStopped && visit.expires > now
        if (begun != nil) != may { faults.append("contents begin that may not, or do not that may") }
        guard let begun else { return "contents do not begin" }
        accepted[id] = nil
        if Int.random(in: 0..<6, using: &dice) == 0 {
            resume(ledger.abandon(id))
            tellEnd(visit.acceptance)
            return "contents begin, and the journal cannot be read"
        }
        receiving[id] = Contents(visit: visit, turn: begun.0.turn)
        return "contents begin"
    }

    private mutating func store(_ dice: inout SeededNumbers) -> String {
        guard let contents = Self.one(of: receiving, &dice) else { return "nothing to store" }
        let (offer, id) = (contents.visit.offer, contents.visit.offer.transfer)
        let left = offer.items.indices.filter { journal[Place(transfer: id, item: $0)] == nil }
        guard let item = left.randomElement(using: &dice) else { return "all is stored" }
        let facts = ArrivalFacts(
            transfer: id, itemNumber: item, itemsInOffer: offer.items.count, item: offer.items[item], size: 5,
            digest: .of(.xxh3_128, [] as [UInt8]), peer: contents.visit.peer, senderName: "", annotation: [:])
        let arrival = Arrival(
            number: ArrivalNumber(Int64(journal.count + 1)), facts: facts,
            stored: StoredItem(name: safe("a"), path: "/a"))
        let isAsked = Int.random(in: 0..<4, using: &dice) > 0
        ledger.note(stored: arrival)
        if isAsked { resume(ledger.note(HandlerAnswer(.pending), for: arrival)) }
        journal[Place(transfer: id, item: item)] = Row(
            arrival: arrival, answer: isAsked ? nil : HandlerAnswer.State.none)
        receiving[id]?.stored.insert(item)
        return "item \(item) is stored"
    }

    private mutating func answer(_ dice: inout SeededNumbers) -> String {
        guard let (place, row) = Self.pair(of: journal.filter { $0.value.answer == nil }, &dice) else {
            return "no handler is asked"
        }
        let state: HandlerAnswer.State = Bool.random(using: &dice) ? .yes : .no
        journal[place]?.answer = state
        resume(ledger.note(HandlerAnswer(state), for: row.arrival))
        return "a handler answers"
    }

    private mutating func end(_ dice: inout SeededNumbers) -> String {
        guard let contents = Self.one(of: receiving, &dice) else { return "nothing to end" }
        end(contents)
        return "a transfer ends"
    }

    private mutating func end(_ contents: Contents) {
        let id = contents.visit.offer.transfer
        receiving[id] = nil
        // Those whose handlers an earlier process was about to ask.
        for (place, row) in journal where place.transfer == id && row.answer == nil {
            resume(ledger.note(HandlerAnswer(.pending), for: row.arrival))
        }
        let ended = ledger.end(id, from: contents.visit.peer, receipt(contents.visit.offer))
        check(ended.receipt)
        resume(ended)
        tellEnd(contents.visit.acceptance)
    }

    /// As the transfer knows it: with no answer of a handler.
    private func receipt(_ offer: Offer) -> Receipt {
        let digest = Digest.of(.xxh3_128, [] as [UInt8])
        let items = offer.items.indices.map { item in
            let row = journal[Place(transfer: offer.transfer, item: item)]
            return ItemReceipt(row == nil ? .notSent : .stored(name: "a", size: 5, digest: digest))
        }
        // The answers that came before this process are read from the journal.
        var receipt = Receipt(transfer: offer.transfer, items: items)
        for item in items.indices {
            guard let answer = journal[Place(transfer: offer.transfer, item: item)]?.answer else { continue }
            receipt.items[item].handler = HandlerAnswer(answer)
        }
        return receipt
    }

    private mutating func cancel(_ dice: inout SeededNumbers) -> String {
        guard !offers.isEmpty else { return "nothing to cancel" }
        let id = offers[Int.random(in: 0..<offers.count, using: &dice)].offer.transfer
        switch ledger.cancel(id, at: now) {
        case .receiving: cancelled.insert(id)
        case .waiting:
            cancelled.insert(id)
            tellEnd(accepted.removeValue(forKey: id)?.acceptance)
        case nil:
            if receiving[id] != nil { faults.append("a running transfer cannot be cancelled") }
            if let open = accepted[id], open.expires > now { faults.append("an accepted transfer cannot be cancelled") }
        }
        return "the user cancels"
    }

    private mutating func leave(_ dice: inout SeededNumbers) -> String {
        guard let visit = Self.one(of: accepted, &dice) else { return "no connection leaves" }
        let end = now + Limits.departedWait
        ledger.leave(visit.connection, until: end)
        accepted[visit.offer.transfer]?.expires = min(visit.expires, end)
        return "a connection leaves"
    }

    private mutating func hold(_ dice: inout SeededNumbers) -> String {
        guard let visit = Self.one(of: accepted, &dice) else { return "nothing to hold" }
        let end = now + .seconds(Int.random(in: 1...200, using: &dice))
        let held = ledger.hold(visit.offer.transfer, from: visit.peer, at: now, until: end) != nil
        if held != (visit.expires > now) { faults.append("one is held that is over, or not held") }
        if held { accepted[visit.offer.transfer]?.expires = end }
        return "a transfer is held"
    }

    /// Time passes.
    /// - Parameter isHeard: false if the alarm is late.
    private mutating func pass(_ time: Duration, isHeard: Bool = true) -> String {
        now += time
        guard isHeard else { return "\(time) pass, and the alarm is late" }
        for over in ledger.expire(at: now) {
            guard let visit = accepted.removeValue(forKey: over.offer.transfer), visit.expires <= now else {
                faults.append("a transfer expires early")
                continue
            }
            tellEnd(visit.acceptance)
        }
        return "\(time) pass"
    }

    private mutating func wait(_ dice: inout SeededNumbers) -> String {
        guard let (offer, peer) = offers.randomElement(using: &dice) else { return "no task waits" }
        let id = offer.transfer
        if case .unknown = ledger.receipt(of: id, from: peer, waiter: nil) {
            let rows = journal.filter { $0.key.transfer == id }
            if rows.isEmpty { return "no receipt is known" }
            let open = rows.filter { $0.value.answer == nil }
            if open.isEmpty { return "the journal knows the receipt" }
            resume(ledger.end(id, from: peer, receipt(offer)))
            for row in open.values { resume(ledger.note(HandlerAnswer(.pending), for: row.arrival)) }
        }
        lastWaiter += 1
        switch ledger.receipt(of: id, from: peer, waiter: lastWaiter) {
        case .unknown, .none: return "a task asks too early"
        case .receipt(let receipt):
            check(receipt)
            return "a task gets the receipt at once"
        case .waiting:
            waiting[lastWaiter] = id
            return "a task waits"
        }
    }

    private mutating func giveUp(_ dice: inout SeededNumbers) -> String {
        guard let (number, id) = Self.pair(of: waiting, &dice) else { return "no task gives up" }
        ledger.forget(waiter: number, of: id)
        waiting[number] = nil
        resumed[number, default: 0] += 1
        return "a task gives up"
    }

    private mutating func stopOrRestart() -> String {
        if !isStopped {
            isStopped = true
            for answered in ledger.stop() { resume(answered, isWhole: false) }
            untold.formUnion(accepted.values.map(\.acceptance))
            accepted = [:]
            return "the receiver stops"
        }
        untold.formUnion(receiving.values.map(\.visit.acceptance))
        // Its tasks end with the process.
        for number in waiting.keys { resumed[number, default: 0] += 1 }
        (ledger, isStopped) = (TransferLedger(), false)
        (asking, accepted, receiving, waiting, cancelled) = ([:], [:], [:], [:], [])
        return "the receiver starts again"
    }

    // MARK: The record

    private mutating func tellEnd(_ acceptance: Int?) {
        guard let acceptance, acceptance > 0 else { return faults.append("an end without an acceptance") }
        ends[acceptance, default: 0] += 1
    }

    private mutating func resume(_ answered: TransferLedger.Answered?, isWhole: Bool = true) {
        guard let answered else { return }
        check(answered.receipt)
        for number in answered.waiters {
            if waiting.removeValue(forKey: number) == nil { faults.append("a task is resumed that does not wait") }
            resumed[number, default: 0] += 1
            let id = answered.receipt.transfer
            if isWhole, journal.contains(where: { $0.key.transfer == id && $0.value.answer == nil }) {
                faults.append("a task gets a receipt with open answers")
            }
        }
    }

    private mutating func check(_ receipt: Receipt) {
        for (item, given) in receipt.items.enumerated() {
            guard let answer = journal[Place(transfer: receipt.transfer, item: item)]?.answer else { continue }
            if given.handler.state != answer { faults.append("a receipt loses the answer \(answer)") }
        }
    }

    func brokenPromises() -> [String] {
        var broken = faults
        if ends.contains(where: { $0.value > 1 }) { broken.append("an acceptance ends twice") }
        if resumed.contains(where: { $0.value > 1 }) { broken.append("a task is resumed twice") }
        if resumed.contains(where: { waiting[$0.key] != nil }) { broken.append("a resumed task waits") }
        let open = accepted.values.filter { $0.expires > now }
        if ledger.openTransfers(at: now) != open.count + receiving.count { broken.append("the open ones are others") }
        for peer in Set(offers.map(\.peer)) {
            let sizes =
                open.filter { $0.peer == peer }.map { $0.offer.knownSize }
                + receiving.values.filter { $0.visit.peer == peer }.map { contents in
                    contents.visit.offer.knownSize - 5 * UInt64(contents.stored.count)
                }
            let underWay = ledger.underWay(at: now) { claim, _ in claim.peer == peer ? claim.bytes : 0 }
            if underWay != sizes.reduce(0, +) { broken.append("\(underWay) bytes are under way, not \(sizes)") }
            let own = receiving.values.filter { $0.visit.peer == peer }
            if Set(own.map { ObjectIdentifier($0.turn) }).count > 1 { broken.append("a peer has two turns") }
            for contents in own {
                let rivals = ledger.rivals(of: contents.visit.offer, from: peer).count
                if rivals > own.count - 1 { broken.append("a transfer is its own rival, or another peer's") }
            }
        }
        return broken
    }

    // MARK: Rest

    mutating func settle(_ dice: inout SeededNumbers) {
        for visit in asking.values {
            _ = ledger.settle(
                visit.offer, Verdict(all: .no, count: visit.offer.items.count), connection: visit.connection,
                isWithdrawn: false, at: now)
        }
        asking = [:]
        for contents in receiving.values { end(contents) }
        while journal.contains(where: { $0.value.answer == nil }) { _ = answer(&dice) }
        _ = pass(.seconds(1_000))
    }

    func brokenAtRest() -> [String] {
        var broken: [String] = []
        if ledger.openTransfers(at: start) != 0 { broken.append("a transfer is open for ever") }
        if !waiting.isEmpty { broken.append("a task waits for ever") }
        if ledger.underWay(at: start, { claim, _ in claim.bytes }) != 0 {
            broken.append("bytes are under way for ever")
        }
        for number in stride(from: 1, through: acceptances, by: 1) where ends[number] != 1 && !untold.contains(number) {
            broken.append("acceptance \(number) has no end")
        }
        return broken
    }

    private static func one<Value>(of values: [TransferID: Value], _ dice: inout SeededNumbers) -> Value? {
        pair(of: values, &dice)?.1
    }

    /// Equal seeds choose equally, whatever the order of a dictionary is.
    private static func pair<Key, Value>(of values: [Key: Value], _ dice: inout SeededNumbers) -> (Key, Value)? {
        values.sorted { "\($0.key)" < "\($1.key)" }.randomElement(using: &dice).map { ($0.key, $0.value) }
    }
}
