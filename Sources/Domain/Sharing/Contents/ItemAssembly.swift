/// The permitted order and size of the contents of a transfer: the stream as a state machine, without disk, clock or
/// wire. Every event of the sender is checked against the offer and the verdict. Each item has one of these states:
///
///     awaited ──beginItem──▶ begun ──beginFile──▶ fileOpen
///                            │ ▲ ▲                 │
///               setAsideItem │ │ └endFile, dropFile┘
///                            ▼ │ beginItem
///                          setAside
///     begun ──endItem──▶ whole
///     awaited ──presentItem──▶ present
///     awaited, begun, fileOpen, setAside ──abandonItem──▶ abandoned; awaited, where files are requests of their own
///     refused: it was not accepted, and nothing of it may come
///
/// At most one item is `begun` or `fileOpen`. Items are set aside, and files dropped, only where files are requests of
/// their own. `finish` ends the whole. A refused event is the sender's fault, and changes nothing.
package struct ItemAssembly: ~Copyable {
    private enum State {
        case refused
        case awaited
        case begun(Progress)
        case fileOpen(Progress, OpenFile)
        case setAside(Progress)
        case whole
        case present
        case abandoned
    }

    private struct Progress {
        var bytes: UInt64 = 0
        var entries: UInt64 = 0
        var closings: UInt64 = 0
    }

    package struct OpenFile {
        /// The path in the tree; nil if the file is the item itself.
        package let path: SafeRelativePath?
        package let executable: Bool
        fileprivate let size: UInt64?
        fileprivate var received: UInt64 = 0
    }

    private var states: [State]
    /// The item that is `begun` or `fileOpen`.
    package private(set) var currentItem: Int?
    private var isFinished = false
    /// The first item that may still begin, where items come in the order of the offer.
    private var nextItem = 0
    /// Bytes of all items so far, kept and present ones included. Contents that may come again do not count any more.
    package private(set) var receivedBytes: UInt64 = 0
    /// Files, folders and links of all items so far, likewise.
    package private(set) var receivedEntries: UInt64 = 0
    private let policy: ContentsPolicy
    private let items: [OfferedItem]
    private let answers: [ItemVerdict]
    private var bound: ContentsBound?

    /// - Parameters:
    ///   - items: the offer's.
    ///   - verdict: the answer that was given to it, as many items.
    ///   - bound: bounds the whole transfer; nil: only the sizes in the offer limit it.
    package init(
        items: [OfferedItem], verdict: Verdict, binding: OfferBinding = .exact, bound: ContentsBound? = nil
    ) {
        self.items = items
        (self.answers, self.bound) = (verdict.items, bound)
        self.policy = binding.policy
        self.states = verdict.items.map { $0.answer == .accepted ? .awaited : .refused }
    }

    // MARK: Items

    /// An item begins, or goes on after it was set aside.
    package mutating func beginItem(_ number: Int) throws(TransferError) {
        guard currentItem == nil, !isFinished else { throw Self.outOfOrder("an item began inside another") }
        let twice = Self.outOfOrder("item \(number) came twice, too late, or was never offered")
        guard states.indices.contains(number), !policy.isInOrder || number >= nextItem else { throw twice }
        switch states[number] {
        case .awaited: states[number] = .begun(Progress())
        case .setAside(let item): states[number] = .begun(item)
        case .refused: throw TransferError(.notAccepted, "item \(number) was not accepted")
        case .begun, .fileOpen, .whole, .present, .abandoned: throw twice
        }
        if policy.isInOrder {
            guard !states[nextItem..<number].contains(where: Self.isAwaited) else {
                states[number] = .awaited
                throw Self.outOfOrder("an item was left out")
            }
            nextItem = number + 1
        }
        currentItem = number
    }

    /// The current item goes on later: `beginItem` takes it up again.
    package mutating func setAsideItem() throws(TransferError) {
        guard policy.filesAreRequests, let currentItem, case .begun(let item) = states[currentItem] else {
            throw Self.outOfOrder("an item was set aside that had not begun")
        }
        states[currentItem] = .setAside(item)
        self.currentItem = nil
    }

    /// An accepted item is not sent, because it is there already.
    package mutating func presentItem(_ number: Int) throws(TransferError) {
        if policy.filesAreRequests { throw Self.outOfOrder("an item is present where each file is asked for") }
        try beginItem(number)
        states[number] = .present
        currentItem = nil
        receivedBytes += items[number].size ?? 0
    }

    /// Checks that the current item can end.
    /// - Parameter isIncomplete: whether some of its files will not come.
    /// - Returns: the item's number, its bytes of contents, and its files, folders and links, itself included.
    package func checkEndOfItem(
        isIncomplete: Bool = false
    ) throws(TransferError) -> (number: Int, bytes: UInt64, entries: UInt64) {
        guard let currentItem, case .begun(let item) = states[currentItem] else {
            throw Self.outOfOrder("an item ended that had not begun")
        }
        let offered = items[currentItem]
        if policy.sizesAreExact, !isIncomplete, let size = offered.size, size != item.bytes { throw Self.tooLittle }
        // The tree's own folder is counted in the offer and needs no entry of its own.
        let entries = offered.kind == .tree ? item.entries + 1 : item.entries
        if !isIncomplete, let count = offered.entries, count != entries { throw Self.tooLittle }
        return (currentItem, item.bytes, entries)
    }

    /// The current item is whole. Parameter, result and errors are those of `checkEndOfItem`.
    @discardableResult
    package mutating func endItem(
        isIncomplete: Bool = false
    ) throws(TransferError) -> (number: Int, bytes: UInt64, entries: UInt64) {
        let end = try checkEndOfItem(isIncomplete: isIncomplete)
        states[end.number] = .whole
        currentItem = nil
        return end
    }

    /// The sender cannot continue the current item, or send an accepted item that has not begun or was set aside.
    package mutating func abandonItem(_ number: Int) throws(TransferError) {
        if isFinished { throw Self.outOfOrder("an item was abandoned after the end") }
        if currentItem == nil { try beginItem(number) }
        guard currentItem == number else { throw Self.outOfOrder("another item was abandoned than had begun") }
        if policy.filesAreRequests, let item = progress(of: number) {
            receivedBytes -= item.bytes
            receivedEntries -= item.entries
        }
        states[number] = policy.filesAreRequests ? .awaited : .abandoned
        currentItem = nil
    }

    /// The end of the whole: every accepted item has come or was abandoned.
    package mutating func finish() throws(TransferError) {
        guard currentItem == nil, !isFinished else { throw Self.outOfOrder("the contents ended inside an item") }
        for state in states {
            switch state {
            case .awaited where !policy.filesAreRequests, .setAside: throw Self.tooLittle
            default: continue
            }
        }
        isFinished = true
    }

    // MARK: Entries

    /// - Returns: the file as it may be written: without an executable bit that nobody has agreed to.
    @discardableResult
    package mutating func beginFile(_ entry: FileEntry) throws(TransferError) -> FileEntry {
        var (number, item) = try currentEntry("a file")
        let isTree = items[number].kind == .tree
        guard isTree == (entry.path != nil) else { throw Self.outOfOrder("a file's path does not fit its item") }
        guard !entry.executable || items[number].kind.canBeExecutable else {
            throw TransferError(
                .protocolViolation, "\(items[number].name) is a text or URL, and cannot be executable")
        }
        try count(&item, number)
        if let size = entry.size, size > maximumBytes(of: number) - item.bytes { throw Self.tooMuch }
        guard entry.offset == 0 || entry.size != nil && Int(exactly: entry.offset) != nil else {
            throw Self.outOfOrder("a file continues at a wrong place")
        }
        if let size = entry.size, entry.offset > size { throw Self.tooMuch }
        try checkQuota(bytes: entry.offset, entries: 1)
        var entry = entry
        if !answers[number].admittedAs.isEmpty, !isTree || !policy.digestsCoverModes { entry.executable = false }
        item.bytes += entry.offset
        states[number] = .fileOpen(
            item,
            OpenFile(path: entry.path, executable: entry.executable, size: entry.size, received: entry.offset))
        receivedBytes += entry.offset
        receivedEntries += 1
        return entry
    }

    /// Contents of the file that was begun.
    package mutating func receive(_ byteCount: Int) throws(TransferError) {
        guard let currentItem, case .fileOpen(var item, var file) = states[currentItem] else {
            throw Self.outOfOrder("contents came outside a file")
        }
        let count = UInt64(byteCount)
        if let size = file.size, count > size - file.received { throw Self.tooMuch }
        guard count <= maximumBytes(of: currentItem) - item.bytes else { throw Self.tooMuch }
        try checkQuota(bytes: count, entries: 0)
        item.bytes += count
        file.received += count
        receivedBytes += count
        states[currentItem] = .fileOpen(item, file)
    }

    /// The file that is open, if any.
    package var openFile: OpenFile? {
        guard let currentItem, case .fileOpen(_, let file) = states[currentItem] else { return nil }
        return file
    }

    /// Checks that the current file can end.
    @discardableResult
    package func checkEndOfFile() throws(TransferError) -> OpenFile {
        guard let file = openFile else { throw Self.outOfOrder("a file ended that had not begun") }
        if let size = file.size, file.received < size { throw Self.tooLittle }
        return file
    }

    package mutating func endFile() throws(TransferError) {
        try checkEndOfFile()
        if let currentItem, let item = progress(of: currentItem) { states[currentItem] = .begun(item) }
    }

    /// The current file has failed, and may come again.
    package mutating func dropFile() throws(TransferError) {
        guard policy.filesAreRequests, let currentItem, case .fileOpen(var item, let file) = states[currentItem] else {
            throw Self.outOfOrder("a file was dropped that had not begun")
        }
        item.bytes -= file.received
        receivedBytes -= file.received
        states[currentItem] = .begun(item)
        try dropEntry()
    }

    /// A folder or a link of a tree.
    package mutating func entry() throws(TransferError) {
        var (number, item) = try currentEntry("a folder or link")
        guard items[number].kind == .tree else { throw Self.outOfOrder("a file item holds no folders or links") }
        try count(&item, number)
        try checkQuota(bytes: 0, entries: 1)
        states[number] = .begun(item)
        receivedEntries += 1
    }

    /// The last entry of the current item could not be made, and may come again.
    package mutating func dropEntry() throws(TransferError) {
        var (number, item) = try currentEntry("the fault of an entry")
        guard policy.filesAreRequests, item.entries > 0 else { throw Self.outOfOrder("there is no entry to drop") }
        item.entries -= 1
        receivedEntries -= 1
        states[number] = .begun(item)
    }

    /// A folder of a tree, or the tree's own, was left: at most once for each entry, so that this has an end too.
    package mutating func folderClosed() throws(TransferError) {
        var (number, item) = try currentEntry("the end of a folder")
        guard items[number].kind == .tree else { throw Self.outOfOrder("a file item holds no folders") }
        item.closings += 1
        guard item.closings <= maximumEntries(of: number) else { throw Self.tooMuch }
        states[number] = .begun(item)
    }

    private func currentEntry(_ what: String) throws(TransferError) -> (Int, Progress) {
        guard let currentItem, case .begun(let item) = states[currentItem] else {
            throw Self.outOfOrder("\(what) came outside an item or in a file")
        }
        return (currentItem, item)
    }

    private func progress(of number: Int) -> Progress? {
        switch states[number] {
        case .begun(let item), .fileOpen(let item, _), .setAside(let item): item
        case .refused, .awaited, .whole, .present, .abandoned: nil
        }
    }

    private static func isAwaited(_ state: State) -> Bool { if case .awaited = state { true } else { false } }

    // MARK: Amounts

    /// The offered amount, or, if it is unknown, the maximum of any offer.
    private func maximumBytes(of number: Int) -> UInt64 { items[number].size ?? Limits.itemBytes }

    private func maximumEntries(of number: Int) -> UInt64 { items[number].entries ?? Limits.entriesPerItem }

    private func count(_ item: inout Progress, _ number: Int) throws(TransferError) {
        item.entries += 1
        let allowed = maximumEntries(of: number)
        guard item.entries <= (items[number].kind == .tree ? allowed - 1 : allowed) else { throw Self.tooMuch }
    }

    private mutating func checkQuota(bytes: UInt64, entries: UInt64) throws(TransferError) {
        let coming = Footprint(bytes: receivedBytes + bytes, entries: receivedEntries + entries).bytes
        guard bound?.includes(coming) == false, let bytes = bound?.bytes else { return }
        throw TransferError(
            .noRoom,
            "over the limit for one stranger, where each file and folder counts for "
                + "\(ByteCount.text(Limits.entryBytes)) more; \(ByteCount.text(bytes)) were left")
    }

    private static func outOfOrder(_ what: String) -> TransferError {
        TransferError(.protocolViolation, "the sender broke the order: \(what)")
    }

    private static let tooMuch = TransferError(.sizeMismatch, "more arrived than was offered")
    private static let tooLittle = TransferError(.sizeMismatch, "less arrived than was offered")
}
