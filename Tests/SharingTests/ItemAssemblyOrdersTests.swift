import Sharing
import TestSupport
import Testing

@Suite("The order of contents, in random orders of events", .timeLimit(.minutes(5)))
struct ItemAssemblyOrdersTests {
    @Test(
        "each byte and entry is counted once, none beyond the quota, and a refused event changes nothing",
        arguments: [OfferBinding.exact, .announced, .scattered])
    func anyOrder(binding: OfferBinding) {
        let story = brokenStory(300) { seed in AssemblyWorld(binding, seed) }
        #expect(story == nil, "\(story ?? "")")
    }
}

private final class Assembly {
    var order: ItemAssembly

    init(_ items: [OfferedItem], _ verdict: Verdict, _ binding: OfferBinding, _ maximumBytes: UInt64?) {
        order = ItemAssembly(
            items: items, verdict: verdict, binding: binding, bound: maximumBytes.map { ContentsBound(bytes: $0) })
    }
}

/// A sender of two files and two trees, and its own count of them.
private struct AssemblyWorld: OrderedWorld {
    private struct Sent {
        var bytes: UInt64 = 0
        var entries: UInt64 = 0
        /// Bytes of the open file.
        var file: UInt64?
        var isAside = false
        var isOver = false
    }

    private let assembly: Assembly
    private let binding: OfferBinding
    private let quota: UInt64?
    private let accepted: [Bool]
    private var sent = Array(repeating: Sent(), count: 4)
    private var current: Int?
    private var isFinished = false
    private var broken: [String] = []

    init(_ binding: OfferBinding, _ seed: UInt64) {
        self.binding = binding
        accepted = [true, seed % 2 == 0, true, true]
        quota = seed % 3 == 0 ? 5 * Limits.entryBytes + seed % 16 : nil
        let items = (0..<4).map { number in
            number % 2 == 0
                ? OfferedItem(kind: .file, name: safe("f\(number)"), type: uniform("public.data"), size: nil)
                : OfferedItem(
                    kind: .tree, name: safe("t\(number)"), type: uniform("public.folder"), size: 4, entries: 3)
        }
        let verdict = Verdict(items: accepted.map { $0 ? .accepted : ItemVerdict(.declined) })
        assembly = Assembly(items, verdict, binding, quota)
    }

    mutating func step(_ dice: inout SeededNumbers) -> String {
        let isTree = (current ?? 0) % 2 == 1
        let path = isTree != (Int.random(in: 0..<10, using: &dice) == 0) ? "p" : nil
        let number = Int.random(in: -1...4, using: &dice)
        var events: [SenderEvent] = [
            .beginFile(path: path, size: [nil, 0, 4].randomElement(using: &dice) ?? nil), .entry, .folderClosed,
            .endItem, .abandonItem(current ?? number), .setAsideItem, .finish, .dropEntry,
        ]
        if current == nil { events = [.beginItem(number), .beginItem(number), .presentItem(number), .finish] }
        if current.map({ sent[$0].file != nil }) == true {
            events = [.receive(1), .receive(4), .endFile, .endFile, .dropFile, .abandonItem(current ?? 0)]
        }
        let all = events + [.receive(9), .beginItem(number), .endItem, .abandonItem(number), .dropFile, .endFile]
        let event = (Int.random(in: 0..<8, using: &dice) == 0 ? all : events).randomElement(using: &dice) ?? .finish
        return play(event)
    }

    private mutating func play(_ event: SenderEvent) -> String {
        let before = state
        do throws(TransferError) {
            try event.apply(to: &assembly.order)
        } catch {
            if state != before { broken.append("\(event) was refused, and changes the state") }
            return "\(event): \(error)"
        }
        took(event)
        return "\(event)"
    }

    private var state: [UInt64] {
        [
            assembly.order.currentItem.map { UInt64($0) } ?? 99, assembly.order.receivedBytes,
            assembly.order.receivedEntries, assembly.order.openFile == nil ? 0 : 1,
        ]
    }

    /// Counts an event that was taken.
    private mutating func took(_ event: SenderEvent) {
        if isFinished { broken.append("\(event) was taken after the end") }
        switch event {
        case .beginItem(let number), .presentItem(let number), .abandonItem(let number):
            if !accepted[number] || sent[number].isOver || current ?? number != number {
                broken.append("\(event) was taken")
            }
            if !sent[number].isAside, current == nil { sent[number] = Sent() }
            sent[number].isAside = false
            current = number
            if case .beginItem = event { return }
            if case .presentItem = event { sent[number].bytes = number % 2 == 1 ? 4 : 0 }
            current = nil
            sent[number].file = nil
            sent[number].isOver = binding != .scattered
            if binding == .scattered { sent[number] = Sent() }
        case .finish:
            isFinished = true
            if binding != .scattered, zip(accepted, sent).contains(where: { $0 && !$1.isOver }) {
                broken.append("the contents ended before all had come")
            }
        default:
            guard let number = current else { return broken.append("\(event) was taken outside an item") }
            count(event, &sent[number])
            if event == .endItem || event == .setAsideItem { current = nil }
        }
    }

    private func count(_ event: SenderEvent, _ item: inout Sent) {
        switch event {
        case .beginFile: (item.file, item.entries) = (0, item.entries + 1)
        case .receive(let bytes):
            item.bytes += UInt64(bytes)
            item.file = item.file.map { $0 + UInt64(bytes) }
        case .endFile: item.file = nil
        case .dropFile:
            item.bytes -= item.file ?? 0
            item.entries -= 1
            item.file = nil
        case .entry: item.entries += 1
        case .dropEntry: item.entries -= 1
        case .setAsideItem: item.isAside = true
        case .endItem: item.isOver = true
        default: break
        }
    }

    mutating func settle(_ dice: inout SeededNumbers) {
        if let current { _ = play(.abandonItem(current)) }
        for number in sent.indices where accepted[number] && (!sent[number].isOver || sent[number].isAside) {
            _ = play(.abandonItem(number))
        }
        _ = play(.finish)
    }

    func brokenPromises() -> [String] {
        var found = broken
        if assembly.order.currentItem != current { found.append("another item is current") }
        let (bytes, entries) = sent.reduce((0, 0)) { ($0.0 + $1.bytes, $0.1 + $1.entries) }
        if (bytes, entries) != (assembly.order.receivedBytes, assembly.order.receivedEntries) {
            found.append("\(bytes) bytes and \(entries) entries have come")
        }
        let isOver = Footprint(bytes: bytes, entries: entries).bytes > quota ?? .max
        // An item that is present takes no room.
        if isOver, binding == .scattered { found.append("more came than the quota allows") }
        return found
    }

    func brokenAtRest() -> [String] { isFinished ? [] : ["the transfer does not end"] }
}
