import Digests
import Synchronization
import TestSupport
import Testing

@testable import Sharing

@Suite("Transfers that come in, in random orders of events", .timeLimit(.minutes(5)))
struct IncomingOrdersTests {
    @Test("nothing is stored twice, nothing that was confirmed is missing, and nothing stays open")
    func anyOrder() {
        let story = brokenStory(300, steps: 120) { seed in IncomingWorld(seed) }
        #expect(story == nil, "\(story ?? "")")
    }
}

/// Faults of the disk and the journal, and the end of the process.
private final class Faults: Sendable {
    private struct State {
        /// Calls until a fault.
        var left: Int?
        /// Whether every later call fails, too.
        var isKill = false
        var fired: [String] = []
    }

    private let state = Mutex(State())

    func arm(after calls: Int?, isKill: Bool = false) {
        state.withLock { ($0.left, $0.isKill) = (calls, isKill) }
    }

    var isDead: Bool { state.withLock { $0.isKill && ($0.left ?? 1) <= 0 } }

    /// The operations that have failed, a word for each.
    var fired: [String] { state.withLock { $0.fired } }

    func fault(_ operation: String) -> TransferError? {
        state.withLock { state in
            guard let left = state.left else { return nil }
            if left > 0 {
                state.left = left - 1
                return nil
            }
            if !state.isKill { state.left = nil }
            state.fired.append(operation)
            return TransferError(.storage, "fault of \(operation)")
        }
    }
}

/// The contents of an item, in the order of sending.
private enum Part {
    case folder(String)
    case file(String?, [UInt8])
    case closed
}

/// An item that a sender has, and how far it has come with it.
private struct Goods {
    var name: String
    var kind: ItemKind
    var parts: [Part]
    var isSizeKnown = true
    /// Parts that are sent.
    var sent = 0
    var isOver = false
    var isPresent = false

    var files: [(path: String?, bytes: [UInt8])] {
        parts.compactMap { part in if case .file(let path, let bytes) = part { (path, bytes) } else { nil } }
    }

    var offered: OfferedItem {
        let size = files.reduce(0) { $0 + UInt64($1.bytes.count) }
        let entries = parts.reduce(0) { count, part in if case .closed = part { count } else { count + 1 } }
        return OfferedItem(
            kind: kind, name: safe(name), type: uniform(kind == .tree ? "public.folder" : "public.data"),
            size: isSizeKnown ? size : nil, entries: kind == .tree ? UInt64(entries) + 1 : 1)
    }

    func digest(_ algorithm: DigestAlgorithm) -> Digest {
        guard kind == .tree else { return .of(algorithm, files[0].bytes) }
        var listing = TreeListing(algorithm)
        for part in parts {
            switch part {
            case .folder(let path): (try? SafeRelativePath(path)).map { listing.folder($0) }
            case .file(let path, let bytes):
                (path.flatMap { try? SafeRelativePath($0) }).map {
                    listing.file($0, executable: false, digest: .of(algorithm, bytes))
                }
            case .closed: break
            }
        }
        return listing.finalize()
    }

    static func all(_ prefix: String, isSizeKnown: Bool = true) -> [Goods] {
        [
            Goods(name: prefix + "one", kind: .file, parts: [.file(nil, [1, 2, 3, 4, 5])], isSizeKnown: isSizeKnown),
            Goods(
                name: prefix + "tree", kind: .tree,
                parts: [.file("a", [7, 7]), .folder("d"), .file("d/b", [8, 9, 10]), .file("e", []), .closed]),
            Goods(name: prefix + "two", kind: .file, parts: [.file(nil, [6])]),
        ]
    }
}

/// A transfer under way, and its sender.
private final class Slot {
    let offer: Offer
    let binding: OfferBinding
    let transfer: IncomingTransfer
    var goods: [Goods]
    var current: Int?
    /// The rest of the open file.
    var open: [UInt8]?
    /// Files of trees that the sender was told to be here.
    var told: [Int: Set<String>] = [:]
    /// Items whose contents have begun.
    var begun: Set<Int> = []
    /// Bytes that an earlier attempt has left, by item and path.
    var kept: [Int: [UInt64: UInt64]] = [:]
    let progress: Recorder<UInt64>
    let quota: UInt64?
    let firedBefore: Int

    init(
        _ offer: Offer, _ binding: OfferBinding, _ transfer: IncomingTransfer, _ goods: [Goods],
        _ progress: Recorder<UInt64>, quota: UInt64?, firedBefore: Int
    ) {
        self.progress = progress
        (self.offer, self.binding, self.transfer, self.goods) = (offer, binding, transfer, goods)
        (self.quota, self.firedBefore) = (quota, firedBefore)
    }

    var isScattered: Bool { binding == .scattered }

    /// The item has to come again from its beginning.
    func reset(_ number: Int) {
        goods[number].sent = 0
        told[number] = nil
        (current, open) = (nil, nil)
    }
}

/// One receiver, its disk and its journal, and the senders of one peer.
private struct IncomingWorld: OrderedWorld {
    private static let peer = PeerID.sample(1)
    private let faults = Faults()
    private let inbox: MemoryInbox
    private let journal: MemoryJournal
    private var unsettled = UnsettledResults()
    private var turn = CommitTurn()
    private var slots: [Slot] = []
    /// Transfers of `.exact` that ended before all was stored: they may be offered again.
    private var again: [TransferID] = []
    private var opened = 0
    /// Names that a receipt has confirmed, and that nobody has removed.
    private var promised: Set<String> = []
    private var removed: Set<String> = []
    /// Names that may be there twice: the journal did not know them when they came again.
    private var tolerated: Set<String> = []
    private var broken: [String] = []
    /// Deliveries that were handed on.
    private let handed = Recorder<ArrivalNumber>()
    private var handedBefore: Set<ArrivalNumber> = []

    init(_ seed: UInt64) {
        inbox = MemoryInbox { [faults] operation in faults.fault("\(operation)") }
        journal = MemoryJournal(fault: { [faults] operation in
            // A journal that cannot be read lets items come twice.
            if case .earlier = operation, !faults.isDead { return nil }
            return faults.fault("\(operation)")
        })
    }

    // MARK: Events

    mutating func step(_ dice: inout SeededNumbers) -> String {
        let event = anyEvent(&dice)
        tolerated.formUnion(journal.unsettled.map(\.name.text))
        guard faults.isDead else { return event }
        restart()
        return event + "; the process ends there, and another starts"
    }

    private mutating func anyEvent(_ dice: inout SeededNumbers) -> String {
        let number = Int.random(in: 0..<100, using: &dice)
        if slots.isEmpty || slots.count < 2 && number < 6 { return open(&dice) }
        let slot = slots[Int.random(in: 0..<slots.count, using: &dice)]
        switch number {
        case ..<9:
            faults.arm(after: Int.random(in: 0...8, using: &dice))
            return "a fault is near"
        case ..<11:
            faults.arm(after: Int.random(in: 0...12, using: &dice), isKill: true)
            return "the end of the process is near"
        case ..<13:
            for arrival in unsettled.settle(in: journal) { handed.record(arrival.number) }
            return "the journal is asked again"
        case ..<14:
            guard let name = inbox.names.randomElement(using: &dice) else { return "nothing is removed" }
            inbox.remove(name)
            promised.remove(name)
            removed.insert(name)
            return "\(name) is removed"
        case ..<17: return wrong(slot, &dice)
        case ..<20: return cut(slot, &dice)
        case ..<22: return giveUp(slot, &dice)
        default: return send(slot, &dice)
        }
    }

    private mutating func open(_ dice: inout SeededNumbers, only: OfferBinding? = nil) -> String {
        faults.arm(after: nil)
        opened += 1
        let binding = only ?? [.exact, .exact, .announced, .scattered].randomElement(using: &dice) ?? .exact
        let goods: [Goods]
        var quota: UInt64?
        var id = TransferID()
        switch binding {
        case .exact:
            goods = Goods.all("exact")
            if Bool.random(using: &dice), let last = again.last, !slots.contains(where: { $0.offer.transfer == last }) {
                id = last
            }
        case .announced: goods = Goods.all("announced\(opened)")
        case .scattered:
            let isKnown = only != nil || Bool.random(using: &dice)
            goods = Goods.all("scattered\(opened)", isSizeKnown: isKnown)
            if !isKnown { quota = 6 * Limits.entryBytes + UInt64.random(in: 0...12, using: &dice) }
        }
        var offer = Offer(transfer: id, items: goods.map(\.offered), senderName: "a test")
        offer.dialect = binding == .exact ? .keyed : binding == .announced ? .keyless : .mixed
        let earlier = (try? journal.arrivals(of: id, from: Self.peer)) ?? []
        let progress = Recorder<UInt64>()
        let storage = ArrivalStorage(
            inbox, journal, unsettled: unsettled, turn: turn, storings: turn.storings, isDelivered: { _ in true })
        let transfer = IncomingTransfer(
            offer: offer, verdict: Verdict(all: .accepted, count: goods.count), peer: Self.peer, binding: binding,
            storage: storage, bound: quota.map { ContentsBound(bytes: $0) }, earlier: earlier
        ) { [handed, progress] report in
            switch report {
            case .stored(let arrivals):
                for stored in arrivals where stored.awaitsDelivery { handed.record(stored.arrival.number) }
            case .progressed(let bytes): progress.record(bytes)
            }
        }
        let slot = Slot(
            offer, binding, transfer, goods, progress, quota: quota, firedBefore: faults.fired.count)
        if binding == .exact {
            for (number, item) in offer.items.enumerated() {
                guard let key = PartialKey(item, from: Self.peer) else { continue }
                inbox.readKept(key, .lasting) { file in
                    slot.kept[number, default: [:]][file.pathHash] = file.size
                    return true
                }
            }
            let known = EarlierArrivals(inbox: inbox, journal: journal)
            for number in goods.indices {
                slot.goods[number].isPresent =
                    earlier.contains { $0.itemNumber == number } || known.contain(offer.items[number], from: Self.peer)
            }
        }
        slots.append(slot)
        return "\(opened): \(binding) transfer opens\(earlier.isEmpty ? "" : ", again")"
    }

    /// The next event of a sender that keeps to the protocol.
    private mutating func send(_ slot: Slot, _ dice: inout SeededNumbers) -> String {
        guard let number = slot.current else { return beginOrEnd(slot, &dice) }
        if let rest = slot.open {
            if rest.isEmpty { return endFile(slot, number, &dice) }
            let count = Bool.random(using: &dice) ? rest.count : 1
            let fault = attempt {
                try rest.prefix(count).withUnsafeBytes { bytes in try slot.transfer.write(bytes) }
            }
            if fault == nil { slot.open = Array(rest.dropFirst(count)) }
            return told("\(count) bytes", slot, fault, isOpen: true)
        }
        let item = slot.goods[number]
        guard item.sent < item.parts.count else {
            let fault = attempt { try slot.transfer.endItem(digest: item.digest(.xxh3_128)) }
            if let fault, slot.isScattered {
                slot.reset(number)
                return "item \(number) does not end: \(fault)"
            }
            if fault == nil { (slot.current, slot.goods[number].isOver) = (nil, true) }
            return told("item \(number) ends", slot, fault)
        }
        switch item.parts[item.sent] {
        case .folder(let path):
            let fault = attempt { try slot.transfer.folder(try SafeRelativePath(path)) }
            if fault == nil { slot.goods[number].sent += 1 }
            return told("folder \(path)", slot, fault)
        case .closed:
            let fault = slot.isScattered ? nil : attempt { try slot.transfer.folderClosed(nil, modified: nil) }
            if fault == nil { slot.goods[number].sent += 1 }
            return told("the folder closes", slot, fault)
        case .file(let text, let bytes):
            let path = text.flatMap { try? SafeRelativePath($0) }
            var entry = FileEntry(path: path, executable: false, modified: nil, size: UInt64(bytes.count))
            entry.offset = slot.kept[number]?[KeptFile.pathHash(text ?? "")] ?? 0
            if !item.isSizeKnown { entry.size = nil }
            let fault = attempt { try slot.transfer.beginFile(entry) }
            if fault == nil { slot.open = Array(bytes.dropFirst(Int(entry.offset))) }
            return told("file \(text ?? "") begins at \(entry.offset)", slot, fault)
        }
    }

    private mutating func beginOrEnd(_ slot: Slot, _ dice: inout SeededNumbers) -> String {
        let left = slot.goods.indices.filter { !slot.goods[$0].isOver }
        guard let next = slot.binding == .exact ? left.first : left.randomElement(using: &dice) else {
            if slot.isScattered { return close(slot, TransferError(.interrupted, "all has come")) }
            var receipt: Receipt?
            let fault = attempt { receipt = try slot.transfer.finish() }
            guard let receipt else { return told("the end", slot, fault) }
            return ended(slot, receipt, "finishes", isFinished: true)
        }
        if slot.goods[next].isPresent {
            let digest = slot.goods[next].digest(.lasting)
            let fault = attempt { try slot.transfer.present(next, digest: digest) }
            if fault == nil { slot.goods[next].isOver = true }
            return told("item \(next) is present", slot, fault)
        }
        let fault = attempt { try slot.transfer.beginItem(next) }
        if fault == nil {
            slot.current = next
            slot.begun.insert(next)
        }
        return told("item \(next) begins", slot, fault)
    }

    private mutating func endFile(_ slot: Slot, _ number: Int, _ dice: inout SeededNumbers) -> String {
        let item = slot.goods[number]
        guard case .file(let path, let bytes) = item.parts[item.sent] else { return "no file" }
        let fault = attempt { try slot.transfer.endFile(digest: .of(.xxh3_128, bytes)) }
        guard fault == nil else { return told("the file does not end", slot, fault, isOpen: true) }
        slot.open = nil
        slot.goods[number].sent += 1
        if slot.isScattered, let path {
            if item.sent + 1 < item.parts.count - 1 {
                if let fault = attempt({ try slot.transfer.setAsideItem() }) {
                    slot.reset(number)
                    return "item \(number) is not set aside: \(fault)"
                }
                slot.current = nil
            }
            slot.told[number, default: []].insert(path)
        }
        return "file \(path ?? "") ends"
    }

    /// Ends a transfer after a fault, or, where files are requests of their own, only its file, as dialects do.
    private mutating func told(
        _ event: String, _ slot: Slot, _ fault: TransferError?, isOpen: Bool = false
    ) -> String {
        guard let fault else { return event }
        let event = "\(event) fails: \(fault)"
        guard slot.isScattered else { return ended(slot, slot.transfer.fail(fault), event) }
        guard let number = slot.current else { return event }
        let isTree = slot.goods[number].kind == .tree
        slot.open = nil
        if isOpen {
            let second = attempt { try slot.transfer.dropFile(fault) }
            if isTree, second == nil { slot.current = nil } else { slot.reset(number) }
        } else if isTree {
            if attempt({ try slot.transfer.setAsideItem() }) == nil { slot.current = nil } else { slot.reset(number) }
        } else {
            _ = attempt { try slot.transfer.abandonItem(number, fault) }
            slot.reset(number)
        }
        return event
    }

    private mutating func giveUp(_ slot: Slot, _ dice: inout SeededNumbers) -> String {
        guard let number = slot.current ?? slot.goods.indices.first(where: { !slot.goods[$0].isOver }) else {
            return "nothing is given up"
        }
        let fault = TransferError(Bool.random(using: &dice) ? .changed : .unreadable, "given up")
        if slot.isScattered, slot.open != nil, Bool.random(using: &dice) {
            return told("the file", slot, fault, isOpen: true)
        }
        let refusal = attempt { try slot.transfer.abandonItem(number, fault) }
        if refusal == nil {
            slot.reset(number)
            slot.goods[number].isOver = !slot.isScattered
        }
        return told("item \(number) is given up", slot, refusal)
    }

    private mutating func cut(_ slot: Slot, _ dice: inout SeededNumbers) -> String {
        let codes: [TransferError.Code] = [.interrupted, .stopping, .cancelled, .protocolViolation]
        let fault = TransferError(codes.randomElement(using: &dice) ?? .interrupted, "cut off")
        if slot.isScattered, Int.random(in: 0..<4, using: &dice) > 0 { return close(slot, fault) }
        return ended(slot, slot.transfer.fail(fault), "is cut off: \(fault.code)")
    }

    private mutating func close(_ slot: Slot, _ fault: TransferError) -> String {
        ended(slot, slot.transfer.close(fault), "closes", isClosed: true)
    }

    /// An event that seldom fits. The transfer ends, whether it was taken or not.
    private mutating func wrong(_ slot: Slot, _ dice: inout SeededNumbers) -> String {
        let number = Int.random(in: -1...3, using: &dice)
        let path = Bool.random(using: &dice) ? try? SafeRelativePath("d/x") : nil
        let transfer = slot.transfer
        let size = UInt64.random(in: 0...9, using: &dice)
        let fault = TransferError(.changed, "wrong")
        let events: [(String, () throws -> Void)] = [
            ("beginItem", { try transfer.beginItem(number) }),
            (
                "beginFile",
                {
                    try transfer.beginFile(FileEntry(path: path, executable: false, modified: nil, size: size))
                }
            ),
            ("write", { try [1, 2, 3, 4, 5, 6].withUnsafeBytes { (bytes) in try transfer.write(bytes) } }),
            ("endFile", { try transfer.endFile(digest: nil) }),
            ("endFile with another digest", { try transfer.endFile(digest: .of(.xxh3_128, [0])) }),
            ("endItem", { try transfer.endItem(digest: nil) }),
            ("endItem with another digest", { try transfer.endItem(digest: .of(.xxh3_128, [0])) }),
            ("folder", { try transfer.folder(try SafeRelativePath("x")) }),
            (
                "link",
                {
                    try transfer.link(
                        try SafeRelativePath("y"), target: try SafeLinkTarget("a", of: try SafeRelativePath("y")))
                }
            ),
            ("setAsideItem", { try transfer.setAsideItem() }),
            ("dropFile", { try transfer.dropFile(fault) }),
            ("abandonItem", { try transfer.abandonItem(number, fault) }),
            ("present", { try transfer.present(number, digest: nil) }),
            ("finish", { _ = try transfer.finish() }),
        ]
        guard let (name, event) = events.randomElement(using: &dice) else { return "" }
        slot.told = [:]
        let refusal = attempt(event)
        let word = "wrong \(name)(\(number)): \(refusal.map { "\($0)" } ?? "taken")"
        if slot.isScattered, Bool.random(using: &dice) {
            return word + ", " + close(slot, refusal ?? fault)
        }
        return ended(slot, transfer.fail(refusal ?? fault), word)
    }

    private func attempt(_ body: () throws -> Void) -> TransferError? {
        do {
            try body()
            return nil
        } catch {
            return error as? TransferError ?? TransferError(.unexpected, "\(error)")
        }
    }

    // MARK: Promises

    /// Takes the receipt of a transfer that has ended, unless its process is gone.
    private mutating func ended(
        _ slot: Slot, _ receipt: Receipt, _ word: String, isFinished: Bool = false, isClosed: Bool = false
    ) -> String {
        slots.removeAll { $0 === slot }
        if slot.binding == .exact, !again.contains(slot.offer.transfer) { again.append(slot.offer.transfer) }
        guard !faults.isDead else { return word }
        let id = slot.offer.transfer
        for (number, item) in receipt.items.enumerated() {
            switch item.outcome {
            case .stored(let name, _, _):
                if !removed.contains(name) { promised.insert(name) }
                let isKnown = journal.entries.contains { entry in
                    entry.entry.stored?.name.text == name
                        || entry.entry.intended.facts.transfer == id && entry.entry.intended.facts.itemNumber == number
                            && unsettled.count > 0
                }
                if !isKnown { broken.append("\(name) is confirmed, and the journal does not know it") }
            case .failed: break
            case .notSent:
                if isFinished || slot.begun.contains(number) {
                    broken.append("item \(number) of \(slot.binding) was begun, and has neither a place nor a fault")
                }
            }
        }
        if isFinished, slot.binding == .announced, !receipt.items.allSatisfy(\.isStored), faults.fired.isEmpty {
            broken.append("a part of an announced transfer is stored")
        }
        if isClosed { checkTold(slot) }
        return "\(slot.binding) \(word)"
    }

    /// Files of trees that the sender was told to be here are here, unless the disk refused their tree.
    private mutating func checkTold(_ slot: Slot) {
        let fatal = ["dropFile", "removeLeftovers", "readAgain", "commit", "intend"]
        let fired = faults.fired.dropFirst(slot.firedBefore)
        guard !fired.contains(where: { operation in fatal.contains { operation.hasPrefix($0) } }) else { return }
        for (number, paths) in slot.told {
            let name = slot.goods[number].name
            let stored = inbox[name] ?? inbox[name + " (incomplete)"]
            if removed.contains(name) || removed.contains(name + " (incomplete)") { continue }
            for path in paths where stored?.entries[path] == nil { broken.append("\(path) of \(name) is lost") }
        }
    }

    func brokenPromises() -> [String] {
        var found = broken
        let names = inbox.names
        var counts: [Substring: Int] = [:]
        for name in names { counts[Self.base(name), default: 0] += 1 }
        for (name, count) in counts where count > 1 && !tolerated.contains(String(name)) {
            found.append("\(name) is there \(count) times")
        }
        for name in promised where !names.contains(name) { found.append("\(name) was confirmed, and is missing") }
        for stored in inbox.stored where !isWhole(stored) { found.append("\(stored.name) is not whole") }
        if slots.isEmpty, inbox.stagedCount > 0 { found.append("something is staged that nobody writes") }
        for slot in slots where slot.progress.all.last ?? 0 > slot.quota ?? .max {
            found.append("more came than the quota allows")
        }
        let numbers = handed.all
        if Set(numbers).count < numbers.count { found.append("an arrival was handed on twice") }
        return found
    }

    private static func base(_ name: String) -> Substring {
        name.split(separator: "-")[0].split(separator: " ")[0]
    }

    private func isWhole(_ stored: MemoryInbox.Stored) -> Bool {
        let isPart = stored.name.contains("(incomplete)")
        for goods in Goods.all("") where Self.base(stored.name).hasSuffix(goods.name) {
            return goods.files.allSatisfy { path, bytes in
                let found = stored.entries[path ?? ""]?.bytes
                return found == bytes || isPart && found == nil
            }
        }
        return false
    }

    private mutating func restart() {
        inbox.crash()
        again += slots.filter { $0.binding == .exact }.map(\.offer.transfer)
        slots = []
        faults.arm(after: nil)
        unsettled = UnsettledResults()
        turn = CommitTurn()
        let open = journal.unsettled
        let found = inbox.find(Set(open.compactMap(\.identity)), in: [])
        do {
            try journal.settle(open.map { ($0.number, $0.identity.flatMap { found[$0] }) })
        } catch {
            broken.append("the next start cannot settle")
        }
        // A new process hands on all that waits.
        handedBefore.formUnion(journal.entries.map(\.number))
    }

    // MARK: The rest

    mutating func settle(_ dice: inout SeededNumbers) {
        faults.arm(after: nil)
        sendRest(&dice)
        for arrival in unsettled.settle(in: journal) { handed.record(arrival.number) }
        // An item that was present and has been removed comes in another attempt.
        for _ in 0..<3 {
            _ = open(&dice, only: .exact)
            sendRest(&dice)
        }
        for arrival in unsettled.settle(in: journal) { handed.record(arrival.number) }
    }

    private mutating func sendRest(_ dice: inout SeededNumbers) {
        while let slot = slots.first {
            for _ in 0..<60 where slots.first === slot { _ = send(slot, &dice) }
            guard slots.first === slot else { continue }
            // Files that the quota refuses never come.
            if slot.quota == nil { broken.append("a transfer does not end") }
            _ = close(slot, TransferError(.interrupted, "gone"))
        }
    }

    func brokenAtRest() -> [String] {
        var found: [String] = []
        if !journal.unsettled.isEmpty || unsettled.count > 0 { found.append("something is unsettled") }
        for goods in Goods.all("exact") where !inbox.names.contains(where: { Self.base($0) == goods.name }) {
            if !removed.contains(where: { Self.base($0) == goods.name }) { found.append("\(goods.name) never came") }
        }
        let known = handedBefore.union(handed.all)
        for (number, entry) in journal.entries where entry.state == .waiting && !known.contains(number) {
            found.append("\(entry.intended.facts.item.name) is handed to nobody")
        }
        return found
    }
}
