/// The permitted order and size of the contents of a transfer: the stream as a state machine, without disk, clock or
/// wire. Every event of the sender is checked against the offer and the verdict.
///
///     betweenItems ──beginItem──▶ inItem ──beginFile──▶ inFile
///          ▲  ▲                   │ ▲ │                   │
///          │  └──abandonItem──────┼─┼─┼───────────────────┤
///          └───────endItem────────┘ └─┴──────endFile──────┘
///     betweenItems ──presentItem──▶ betweenItems
///     inItem ──setAsideItem──▶ betweenItems ──beginItem──▶ inItem, where files are requests of their own
///     betweenItems ──finish──▶ finished
///
/// A refused event is the sender's fault and ends the transfer; the machine cannot be used afterwards.
package struct TransferOrder: ~Copyable {
    private enum State {
        case betweenItems
        case inItem(ItemProgress)
        case inFile(ItemProgress, remaining: UInt64?, received: UInt64)
        case finished
    }

    private struct ItemProgress {
        var number: Int
        var bytes: UInt64 = 0
        var entries: UInt64 = 0
        var closings: UInt64 = 0
    }

    private var state: State = .betweenItems
    /// The first item that may still begin, where items come in the order of the offer.
    private var nextItem = 0
    private var hasBegun: [Bool]
    /// Items that go on when their next file comes.
    private var aside: [Int: ItemProgress] = [:]
    private let binding: OfferBinding
    private let items: [OfferedItem]
    private let accepted: [Bool]

    /// - Parameters:
    ///   - items: the offer's.
    ///   - verdict: the answer that was given to it, as many items.
    package init(items: [OfferedItem], verdict: Verdict, binding: OfferBinding = .exact) {
        self.items = items
        self.binding = binding
        self.hasBegun = Array(repeating: false, count: items.count)
        self.accepted = verdict.items.map { $0.answer == .accepted }
    }

    package func isAccepted(_ number: Int) -> Bool { accepted[number] }

    /// The item whose contents are coming, if any.
    package var currentItem: Int? {
        switch state {
        case .betweenItems, .finished: nil
        case .inItem(let item), .inFile(let item, _, _): item.number
        }
    }

    package mutating func beginItem(_ number: Int) throws(TransferError) {
        guard case .betweenItems = state else { throw Self.outOfOrder("an item began inside another") }
        if let item = aside.removeValue(forKey: number) {
            state = .inItem(item)
            return
        }
        guard items.indices.contains(number), !hasBegun[number], binding != .exact || number >= nextItem else {
            throw Self.outOfOrder("item \(number) came twice, too late, or was never offered")
        }
        guard accepted[number] else { throw TransferError(.notAccepted, "item \(number) was not accepted") }
        if binding == .exact {
            guard !accepted[nextItem..<number].contains(true) else { throw Self.outOfOrder("an item was left out") }
            nextItem = number + 1
        }
        hasBegun[number] = true
        state = .inItem(ItemProgress(number: number))
    }

    /// The current item goes on later: `beginItem` takes it up again.
    package mutating func setAsideItem() throws(TransferError) {
        guard binding == .scattered, case .inItem(let item) = state else {
            throw Self.outOfOrder("an item was set aside that had not begun")
        }
        aside[item.number] = item
        state = .betweenItems
    }

    /// The current file of a tree has failed, and may come again.
    package mutating func dropFile() throws(TransferError) {
        guard binding == .scattered, case .inFile(var item, _, let received) = state else {
            throw Self.outOfOrder("a file was dropped that had not begun")
        }
        item.bytes -= received
        item.entries -= 1
        state = .inItem(item)
    }

    /// An accepted item is not sent, because it is there already.
    package mutating func presentItem(_ number: Int) throws(TransferError) {
        try beginItem(number)
        state = .betweenItems
    }

    package mutating func beginFile(_ entry: FileEntry) throws(TransferError) {
        var item = try enterEntry("a file")
        let isTree = items[item.number].kind == .tree
        guard isTree == (entry.path != nil) else { throw Self.outOfOrder("a file's path does not fit its item") }
        guard !entry.executable || items[item.number].kind.canBeExecutable else {
            throw TransferError(
                .protocolViolation, "\(items[item.number].name) is a text or URL, and cannot be executable")
        }
        try count(&item, isTree: isTree)
        if let size = entry.size, size > maximumBytes(of: item) - item.bytes { throw Self.tooMuch }
        state = .inFile(item, remaining: entry.size, received: 0)
        guard entry.offset > 0 else { return }
        guard entry.size != nil, let offset = Int(exactly: entry.offset) else {
            throw Self.outOfOrder("a file continues at a wrong place")
        }
        try receive(offset)
    }

    /// Contents of the file that was begun.
    package mutating func receive(_ byteCount: Int) throws(TransferError) {
        guard case .inFile(var item, let remaining, let received) = state else {
            throw Self.outOfOrder("contents came outside a file")
        }
        let count = UInt64(byteCount)
        var left: UInt64?
        if let remaining {
            guard count <= remaining else { throw Self.tooMuch }
            left = remaining - count
        }
        item.bytes += count
        guard item.bytes <= maximumBytes(of: item) else { throw Self.tooMuch }
        state = .inFile(item, remaining: left, received: received + count)
    }

    package mutating func endFile() throws(TransferError) {
        state = .inItem(try fileThatCanEnd())
    }

    /// Checks that the current file can end.
    package func checkEndOfFile() throws(TransferError) { _ = try fileThatCanEnd() }

    private func fileThatCanEnd() throws(TransferError) -> ItemProgress {
        guard case .inFile(let item, let remaining, _) = state else {
            throw Self.outOfOrder("a file ended that had not begun")
        }
        if let remaining, remaining > 0 { throw Self.tooLittle }
        return item
    }

    /// A folder or a link of a tree.
    package mutating func entry() throws(TransferError) {
        var item = try enterEntry("a folder or link")
        guard items[item.number].kind == .tree else { throw Self.outOfOrder("a file item holds no folders or links") }
        try count(&item, isTree: true)
        state = .inItem(item)
    }

    /// A folder of a tree, or the tree's own, was left: at most once for each entry, so that this has an end too.
    package mutating func folderClosed() throws(TransferError) {
        var item = try enterEntry("the end of a folder")
        guard items[item.number].kind == .tree else { throw Self.outOfOrder("a file item holds no folders") }
        item.closings += 1
        guard item.closings <= maximumEntries(of: item) else { throw Self.tooMuch }
        state = .inItem(item)
    }

    /// - Parameter isIncomplete: whether some of its files will not come.
    /// - Returns: the item's number, its bytes of contents, and its files, folders and links, itself included.
    package mutating func endItem(
        isIncomplete: Bool = false
    ) throws(TransferError) -> (number: Int, bytes: UInt64, entries: UInt64) {
        guard case .inItem(let item) = state else { throw Self.outOfOrder("an item ended that had not begun") }
        let offered = items[item.number]
        let isExact = binding != .announced && !isIncomplete
        if isExact, let size = offered.size, size != item.bytes { throw Self.tooLittle }
        // The tree's own folder is counted in the offer and needs no entry of its own.
        let entries = offered.kind == .tree ? item.entries + 1 : item.entries
        if !isIncomplete, let count = offered.entries, count != entries { throw Self.tooLittle }
        state = .betweenItems
        return (item.number, item.bytes, entries)
    }

    /// The sender cannot continue the current item, or send an accepted item that has not begun.
    /// - Returns: the item's number.
    package mutating func abandonItem(_ number: Int) throws(TransferError) {
        switch state {
        case .inItem(let item), .inFile(let item, _, _):
            guard item.number == number else { throw Self.outOfOrder("another item was abandoned than had begun") }
        case .betweenItems:
            try beginItem(number)
        case .finished:
            throw Self.outOfOrder("an item was abandoned after the end")
        }
        if binding == .scattered { hasBegun[number] = false }
        state = .betweenItems
    }

    /// The end of the whole: every accepted item has come or was abandoned.
    package mutating func finish() throws(TransferError) {
        guard case .betweenItems = state else { throw Self.outOfOrder("the contents ended inside an item") }
        if binding != .scattered {
            for (number, isAccepted) in accepted.enumerated() where isAccepted && !hasBegun[number] {
                throw Self.tooLittle
            }
        }
        state = .finished
    }

    private func enterEntry(_ what: String) throws(TransferError) -> ItemProgress {
        guard case .inItem(let item) = state else { throw Self.outOfOrder("\(what) came outside an item or in a file") }
        return item
    }

    /// The offered amount, or, if it is unknown, the maximum of any offer.
    private func maximumBytes(of item: ItemProgress) -> UInt64 {
        items[item.number].size ?? Limits.itemBytes
    }

    private func maximumEntries(of item: ItemProgress) -> UInt64 {
        items[item.number].entries ?? Limits.entriesPerItem
    }

    private func count(_ item: inout ItemProgress, isTree: Bool) throws(TransferError) {
        item.entries += 1
        let allowed = maximumEntries(of: item)
        guard item.entries <= (isTree ? allowed - 1 : allowed) else { throw Self.tooMuch }
    }

    private static func outOfOrder(_ what: String) -> TransferError {
        TransferError(.protocolViolation, "the sender broke the order: \(what)")
    }

    private static let tooMuch = TransferError(.sizeMismatch, "more arrived than was offered")
    private static let tooLittle = TransferError(.sizeMismatch, "less arrived than was offered")
}
