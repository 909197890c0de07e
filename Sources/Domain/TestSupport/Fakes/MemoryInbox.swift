package import ContentCheck
package import Digests
package import Sharing
private import Synchronization
import UniformTypes

/// An Inbox in memory, for tests: `InboxStoring` with faults on demand.
///
/// If the code under test breaks the port's contract, it ends the program with the sentence of the contract: the fault
/// is in that code, not in the test.
package final class MemoryInbox: InboxStoring {
    /// The next operation, for tests that want it to fail.
    package enum Operation: Sendable, Hashable {
        case freeRoom
        case stage(item: Int)
        case beginFile(path: String)
        case resumeFile(path: String)
        /// `total` counts all bytes written to this Inbox, these included.
        case write(total: UInt64)
        case endFile
        case dropFile
        case makeFolder(path: String)
        case makeLink(path: String)
        case closeFolder
        case removeLeftovers
        case readAgain
        case contentVerdict
        case commit(name: String)
    }

    /// One item in the Inbox.
    package struct Stored: Sendable, Equatable {
        /// With its folder below the Inbox, if it is in one.
        package var name: String
        package var isTree: Bool
        /// By path; a file item has its one file under the empty path, and so does a tree that was closed itself.
        package var entries: [String: Entry]

        /// The contents of a file item.
        package var bytes: [UInt8]? { entries[""]?.bytes }
    }

    package enum Entry: Sendable, Equatable {
        case folder(modified: Timestamp?)
        case file([UInt8], executable: Bool, modified: Timestamp?)
        case link(target: String)

        package var bytes: [UInt8]? {
            if case .file(let bytes, _, _) = self { return bytes }
            return nil
        }
    }

    fileprivate struct State {
        var stored: [Stored] = []
        /// The names taken, each with the last number that was appended to it.
        var numbers: [String: Int] = [:]
        var batches: [Int] = []
        /// Number of items announced so far: it identifies the next ones.
        var announced = 0
        var staged = 0
        var everStaged = 0
        var written: UInt64 = 0
        /// The kept parts of interrupted items, by the text of the key.
        var kept: [String: [String: Entry]] = [:]
        /// Keys of items that are being written.
        var keysInUse: Set<String> = []
        /// The items in the Inbox, as the journal knows them.
        var places: [FileIdentity: StoredItem] = [:]
        /// Items that are being written: a crash affects them.
        var live: [ObjectIdentifier: WeakItem] = [:]
    }

    fileprivate let state = Mutex(State())
    private let room: UInt64
    private let entries: UInt64
    private let fault: @Sendable (Operation) -> TransferError?
    private let refused: @Sendable (OfferedItem, _ isSealed: Bool) -> String?
    fileprivate let checker: ContentChecker?
    fileprivate let keepsModes: Bool

    /// - Parameters:
    ///   - freeRoom: the result of `freeRoom()`; nothing else is bounded by it.
    ///   - freeEntries: the result of `freeEntries()`.
    ///   - checker: checks the content of received files; nil for no check.
    ///   - keepsModes: whether executable bits are kept.
    ///   - refused: the result of `refusal(of:isSealed:)`.
    ///   - fault: asked before each operation; its result is thrown instead.
    package init(
        freeRoom: UInt64 = 1 << 40, freeEntries: UInt64 = .max, checker: ContentChecker? = nil,
        keepsModes: Bool = true,
        fault: @escaping @Sendable (Operation) -> TransferError? = { _ in nil },
        refused: @escaping @Sendable (OfferedItem, _ isSealed: Bool) -> String? = { _, _ in nil }
    ) {
        self.checker = checker
        (self.room, self.entries) = (freeRoom, freeEntries)
        self.fault = fault
        self.refused = refused
        self.keepsModes = keepsModes
    }

    /// An Inbox whose disk is full after so many bytes, although it reports more free room.
    package static func fullAfter(_ bytes: UInt64) -> MemoryInbox {
        MemoryInbox { operation in
            guard case .write(let total) = operation, total > bytes else { return nil }
            return TransferError(.noRoom, "the disk is full")
        }
    }

    /// The items in the Inbox, in the order of their arrival.
    package var stored: [Stored] { state.withLock { $0.stored } }

    package var names: [String] { stored.map(\.name) }

    package subscript(name: String) -> Stored? { stored.first { $0.name == name } }

    /// Items that are staged now: neither committed nor discarded. Must be 0 after every transfer.
    package var stagedCount: Int { state.withLock { $0.staged } }

    /// The kept parts of interrupted items, by the text of the key: files by their path, as in `Stored`.
    package var kept: [String: [String: Entry]] { state.withLock { $0.kept } }

    /// Changes the kept parts of every item, as a disk may after a crash.
    package func damage(_ body: (inout [String: Entry]) -> Void) {
        state.withLock { state in
            for key in state.kept.keys { body(&state.kept[key, default: [:]]) }
        }
    }

    /// Removes an item from the Inbox.
    package func remove(_ name: String) {
        state.withLock { state in state.stored.removeAll { $0.name == name } }
    }

    /// Replaces the contents of a file of the Inbox.
    package func replace(_ name: String, with bytes: [UInt8]) {
        state.withLock { state in
            guard let index = state.stored.firstIndex(where: { $0.name == name }) else { return }
            state.stored[index].entries[""] = .file(bytes, executable: false, modified: nil)
        }
    }

    /// The process ends here: items being written stay as they are, and can be found again if they have a key.
    package func crash() {
        for item in state.withLock({ $0.live.values.compactMap(\.item) }) { item.keep() }
    }

    /// Number of items staged so far.
    package var everStagedCount: Int { state.withLock { $0.everStaged } }

    /// The number of items in each call of `commit`.
    package var batches: [Int] { state.withLock { $0.batches } }

    package func freeRoom() throws(TransferError) -> UInt64 {
        try attempt(.freeRoom)
        return room
    }

    package func freeEntries() -> UInt64 { entries }

    package func refusal(of item: OfferedItem, isSealed: Bool) -> String? { refused(item, isSealed) }

    package func stage(
        transfer: TransferID, item: Int, isTree: Bool, partial: PartialKey?, protection: ProtectionClass
    ) throws(TransferError) -> any StagedItem {
        try attempt(.stage(item: item))
        return state.withLock { state in
            state.staged += 1
            state.everStaged += 1
            var key = partial?.text
            if let taken = key, !state.keysInUse.insert(taken).inserted { key = nil }
            let leftovers = key.flatMap { state.kept.removeValue(forKey: $0) }
            let staged = MemoryStagedItem(self, isTree: isTree, key: key, leftovers: leftovers ?? [:])
            state.live[ObjectIdentifier(staged)] = WeakItem(item: staged)
            return staged
        }
    }

    package func boundKept(
        of peer: PeerID, to bytes: UInt64, besides items: [OfferedItem], protections: [ProtectionClass]
    ) {
        let sizes = items.compactMap { item in
            PartialKey(item, from: peer).map {
                ($0.text, Footprint(bytes: $0.size, entries: (item.entries ?? 1) + 1).bytes)
            }
        }
        let spared = Dictionary(sizes) { max($0, $1) }
        state.withLock { state in
            var total: UInt64 = 0
            for (key, entries) in state.kept where key.hasPrefix(PartialKey.owner(peer)) {
                let content = entries.values.reduce(0) { $0 + UInt64($1.bytes?.count ?? 0) }
                let held = Footprint(bytes: content, entries: UInt64(entries.count)).bytes
                if let most = spared[key], held <= most { continue }
                if spared[key] == nil {
                    total += held
                    if total <= bytes { continue }
                    total -= held
                }
                state.kept[key] = nil
            }
        }
    }

    package func hasKept(_ key: PartialKey) -> Bool { state.withLock { $0.kept[key.text] != nil } }

    package func hasKept(of peer: PeerID) -> Bool {
        let owner = PartialKey.owner(peer)
        return state.withLock { $0.kept.keys.contains { $0.hasPrefix(owner) } }
    }

    package func readKept(_ key: PartialKey, _ algorithm: DigestAlgorithm, found: (KeptFile) -> Bool) {
        let kept: [String: Entry] = state.withLock { $0.kept[key.text] ?? [:] }
        for (path, entry) in kept {
            guard let bytes = entry.bytes, !bytes.isEmpty else { continue }
            let exponent = KeptFile.blockExponent(forSize: UInt64(bytes.count))
            let blocks = stride(from: 0, to: bytes.count, by: 1 << exponent).map { start in
                Digest.of(algorithm, bytes[start..<min(bytes.count, start + 1 << exponent)])
            }
            let file = KeptFile(
                pathHash: KeptFile.pathHash(path), size: UInt64(bytes.count), blockExponent: exponent, digests: blocks)
            guard found(file) else { return }
        }
    }

    private func place(of arrival: Arrival) -> String {
        PathText.part(of: arrival.stored.path, below: "/memory/Inbox") ?? ""
    }

    package func seemsPresent(_ arrival: Arrival) -> Bool {
        guard let stored = self[place(of: arrival)] else { return false }
        return stored.isTree ? arrival.item.kind == .tree : UInt64(stored.bytes?.count ?? -1) == arrival.size
    }

    package func digest(of arrival: Arrival, _ algorithm: DigestAlgorithm) throws(TransferError) -> Digest {
        guard let stored = self[place(of: arrival)] else {
            throw TransferError(.notKept, "\(arrival.stored.name) is not there")
        }
        return stored.isTree ? Self.digest(of: stored.entries, algorithm) : .of(algorithm, stored.bytes ?? [])
    }

    fileprivate static func digest(of entries: [String: Entry], _ algorithm: DigestAlgorithm) -> Digest {
        var listing = TreeListing(algorithm)
        // In the order of a folder walk: the contents of a folder follow it, before its siblings.
        let inOrder = entries.sorted { first, second in
            let (first, second) = (PathText.names(in: first.key), PathText.names(in: second.key))
            return first.lexicographicallyPrecedes(second) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        for (text, entry) in inOrder {
            guard let path = try? SafeRelativePath(text) else { continue }
            switch entry {
            case .folder: listing.folder(path)
            case .file(let bytes, let executable, _):
                listing.file(path, executable: executable, digest: .of(algorithm, bytes))
            case .link(let target):
                if let target = try? SafeLinkTarget(target, of: path) { listing.link(path, target: target) }
            }
        }
        return listing.finalize()
    }

    package func commit(
        _ items: [ItemToCommit],
        announcing: ([FileIdentity?]) throws(TransferError) -> Void
    ) -> [Result<StoredItem, TransferError>] {
        let first = state.withLock { state in
            state.batches.append(items.count)
            state.announced += items.count
            return state.announced - items.count
        }
        do {
            try announcing(items.indices.map { FileIdentity(device: 0, inode: UInt64(first + $0)) })
        } catch {
            for item in items { item.staged.keep() }
            return items.map { _ in .failure(error) }
        }
        return items.enumerated().map { index, item in
            let name = item.name
            guard let staged = item.staged as? MemoryStagedItem else {
                preconditionFailure("only items that this Inbox has staged can be committed to it")
            }
            if let fault = fault(.commit(name: name.text)) {
                if fault.isResumable { staged.keep() } else { staged.discard() }
                return .failure(fault)
            }
            let (isTree, entries) = staged.use()
            let stored = state.withLock { state in
                func place(_ name: SafeName) -> String { item.folder.map { "\($0)/\(name)" } ?? name.text }
                var free = name
                var number = state.numbers[place(name)] ?? 0
                while state.numbers[place(free)] != nil {
                    number += 1
                    free = name.numbered(number)
                }
                state.numbers[place(name)] = number
                state.numbers[place(free)] = state.numbers[place(free)] ?? 0
                state.stored.append(Stored(name: place(free), isTree: isTree, entries: entries))
                let stored = StoredItem(name: free, path: "/memory/Inbox/" + place(free))
                state.places[FileIdentity(device: 0, inode: UInt64(first + index))] = stored
                return stored
            }
            return .success(stored)
        }
    }

    package func find(
        _ identities: Set<FileIdentity>, in folders: Set<SafeRelativePath>
    ) -> [FileIdentity: StoredItem] {
        state.withLock { $0.places.filter { identities.contains($0.key) } }
    }

    fileprivate func attempt(_ operation: Operation) throws(TransferError) {
        if let fault = fault(operation) { throw fault }
    }
}

private struct WeakItem {
    weak var item: MemoryStagedItem?
}

/// An item that is being written to memory; checks the order of calls that `StagedItem` requires.
private final class MemoryStagedItem: StagedItem {
    private struct State {
        var entries: [String: MemoryInbox.Entry] = [:]
        /// The files that an earlier attempt left.
        var leftovers: [String: MemoryInbox.Entry]
        var file: FileEntry?
        var bytes: [UInt8] = []
        var hasFailed = false
        var isUsedUp = false
    }

    private let inbox: MemoryInbox
    var keepsModes: Bool { inbox.keepsModes }
    private let isTree: Bool
    private let key: String?
    private let state: Mutex<State>

    init(_ inbox: MemoryInbox, isTree: Bool, key: String?, leftovers: [String: MemoryInbox.Entry]) {
        self.inbox = inbox
        self.isTree = isTree
        self.key = key
        self.state = Mutex(State(leftovers: leftovers))
    }

    deinit { discard() }

    func beginFile(_ entry: FileEntry) throws(TransferError) {
        let path = entry.path?.text ?? ""
        try step(.beginFile(path: path)) { (state) throws(TransferError) in
            precondition(state.file == nil, "a file was begun inside another: call endFile first")
            precondition(isTree == (entry.path != nil), "files of a tree have a path, an item that is a file has none")
            try self.place(path, in: state)
            state.file = entry
            state.bytes = []
        }
    }

    func resumeFile(
        _ entry: FileEntry, contents: (UnsafeRawBufferPointer) -> Void
    ) throws(TransferError) {
        let path = entry.path?.text ?? ""
        var prefix: [UInt8] = []
        try step(.resumeFile(path: path)) { (state) throws(TransferError) in
            precondition(state.file == nil, "a file was begun inside another: call endFile first")
            guard let bytes = state.leftovers[path]?.bytes, UInt64(bytes.count) >= entry.offset else {
                throw TransferError(.notKept, "\(path) is not kept")
            }
            try self.place(path, in: state)
            state.leftovers[path] = nil
            prefix = Array(bytes.prefix(Int(entry.offset)))
            state.file = entry
            state.bytes = prefix
        }
        prefix.withUnsafeBytes { contents($0) }
    }

    func removeLeftovers() throws(TransferError) {
        try step(.removeLeftovers) { state in
            precondition(state.file == nil, "only after the last entry")
            state.leftovers = [:]
        }
    }

    func digest(_ algorithm: DigestAlgorithm) throws(TransferError) -> Digest {
        var digest: Digest?
        try step(.readAgain) { digest = MemoryInbox.digest(of: $0.entries, algorithm) }
        guard let digest else { preconditionFailure("a step that succeeds has been made") }
        return digest
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferError) {
        let total = inbox.state.withLock { state in
            state.written += UInt64(bytes.count)
            return state.written
        }
        let bytes = Array(bytes)
        try step(.write(total: total)) { state in
            precondition(state.file != nil, "bytes were written outside a file: call beginFile first")
            state.bytes += bytes
        }
    }

    func endFile() throws(TransferError) {
        try step(.endFile) { state in
            guard let file = state.file else { preconditionFailure("a file was ended that had not begun") }
            state.entries[file.path?.text ?? ""] = .file(
                state.bytes, executable: file.executable && keepsModes, modified: file.modified)
            state.file = nil
            state.bytes = []
        }
    }

    func dropFile() throws(TransferError) {
        try step(.dropFile) { state in
            precondition(state.file?.path != nil, "only a file of a tree that has begun can be dropped")
            state.file = nil
            state.bytes = []
        }
    }

    func makeFolder(_ path: SafeRelativePath) throws(TransferError) {
        try step(.makeFolder(path: path.text)) { (state) throws(TransferError) in
            precondition(state.file == nil && isTree, "folders belong into trees, and not into the middle of a file")
            try self.place(path.text, in: state)
            state.entries[path.text] = .folder(modified: nil)
        }
    }

    func makeLink(_ path: SafeRelativePath, target: SafeLinkTarget) throws(TransferError) {
        try step(.makeLink(path: path.text)) { (state) throws(TransferError) in
            precondition(state.file == nil && isTree, "links belong into trees, and not into the middle of a file")
            try self.place(path.text, in: state)
            state.entries[path.text] = .link(target: target.text)
        }
    }

    func closeFolder(_ path: SafeRelativePath?, modified: Timestamp?) throws(TransferError) {
        try step(.closeFolder) { (state) throws(TransferError) in
            precondition(state.file == nil && isTree, "folders belong into trees, and not into the middle of a file")
            if let path {
                guard case .folder? = state.entries[path.text] else {
                    throw TransferError(.unsafeName, "there is no folder \(path)")
                }
            }
            state.entries[path?.text ?? ""] = .folder(modified: modified)
        }
    }

    func contentVerdict(on claim: ContentClaim) throws(TransferError) -> ContentVerdict? {
        var bytes: [UInt8] = []
        try step(.contentVerdict) { state in bytes = state.entries[""]?.bytes ?? [] }
        return inbox.checker.map { claim.verdict(by: $0, bytes: bytes) }
    }

    func discard() { end() }

    func keep() {
        let entries = state.withLock { state in
            var entries = state.leftovers.merging(state.entries) { _, new in new }
            if let file = state.file, !state.bytes.isEmpty {
                entries[file.path?.text ?? ""] = .file(
                    state.bytes, executable: file.executable && keepsModes, modified: file.modified)
            }
            return entries
        }
        let isWorthKeeping = isTree ? !entries.isEmpty : entries[""]?.bytes?.isEmpty == false
        end { state in
            if let key = self.key, isWorthKeeping { state.kept[key] = entries }
        }
    }

    /// - Parameter body: called if it has not ended before.
    private func end(_ body: (inout MemoryInbox.State) -> Void = { _ in }) {
        let wasUsedUp = state.withLock { state in
            defer { state.isUsedUp = true }
            return state.isUsedUp
        }
        guard !wasUsedUp else { return }
        inbox.state.withLock { state in
            state.staged -= 1
            state.live[ObjectIdentifier(self)] = nil
            if let key { state.keysInUse.remove(key) }
            body(&state)
        }
    }

    /// Takes the written entries, for the commit.
    func use() -> (isTree: Bool, entries: [String: MemoryInbox.Entry]) {
        state.withLock { state in
            precondition(!state.isUsedUp, "an item was committed twice, or after it was discarded")
            precondition(!state.hasFailed, "an item was committed after a fault: discard it")
            precondition(state.file == nil, "an item was committed in the middle of a file")
        }
        end()
        return (isTree, state.withLock { $0.entries })
    }

    /// As on a disk: the name is free, and the folder is there.
    private func place(_ path: String, in state: State) throws(TransferError) {
        if state.entries[path] != nil { throw TransferError(.unsafeName, "\(path) is there already") }
        guard let folder = (try? SafeRelativePath(path))?.parent else { return }
        guard case .folder? = state.entries[folder.text] else {
            throw TransferError(.unsafeName, "the folder of \(path) is not there")
        }
    }

    private func step(
        _ operation: MemoryInbox.Operation,
        _ body: (inout State) throws(TransferError) -> Void
    ) throws(TransferError) {
        let result: Result<Void, TransferError> = state.withLock { state in
            precondition(!state.isUsedUp, "an item was written to after it was committed or discarded")
            if case .dropFile = operation { state.hasFailed = false }
            precondition(!state.hasFailed, "an item was written to after a fault: discard it")
            do throws(TransferError) {
                try inbox.attempt(operation)
                try body(&state)
                return .success(())
            } catch {
                // A file of a tree that or a folder that could not begin leaves the tree as it was.
                switch operation {
                case .beginFile, .makeFolder: state.hasFailed = !isTree
                default: state.hasFailed = true
                }
                return .failure(error)
            }
        }
        try result.get()
    }
}
