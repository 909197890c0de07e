import ContentCheck
package import Sharing
private import Synchronization
import UniformTypes

/// An Inbox in memory, for tests: `InboxStoring` with faults on demand.
///
/// It dies where the code under test breaks the port's contract, with the sentence of the contract: that is a fault in
/// that code, not in the test.
package final class MemoryInbox: InboxStoring {
    /// What is about to be done, for those who want it to fail.
    package enum Operation: Sendable, Hashable {
        case freeRoom
        case stage(item: Int)
        case beginFile(path: String)
        /// `total` counts all bytes written to this Inbox, these included.
        case write(total: UInt64)
        case endFile
        case makeFolder(path: String)
        case makeLink(path: String)
        case closeFolder
        case commit(name: String)
    }

    /// One item that lies in the Inbox.
    package struct Stored: Sendable, Equatable {
        /// With the folder below the Inbox, where it lies in one.
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
        /// The names that are taken, each with the number that was last put behind it.
        var numbers: [String: Int] = [:]
        var batches: [Int] = []
        /// Items that were announced, all of them: what the next ones are identified by.
        var announced = 0
        var staged = 0
        var everStaged = 0
        var written: UInt64 = 0
    }

    fileprivate let state = Mutex(State())
    private let room: UInt64
    private let fault: @Sendable (Operation) -> TransferFault?

    /// - Parameters:
    ///   - freeRoom: what `freeRoom()` says; nothing else is bounded by it.
    ///   - fault: asked before each operation; what it returns is thrown instead.
    package init(freeRoom: UInt64 = 1 << 40, fault: @escaping @Sendable (Operation) -> TransferFault? = { _ in nil }) {
        self.room = freeRoom
        self.fault = fault
    }

    /// An Inbox whose disk is full after so many bytes, whatever it said before.
    package static func fullAfter(_ bytes: UInt64) -> MemoryInbox {
        MemoryInbox { operation in
            guard case .write(let total) = operation, total > bytes else { return nil }
            return TransferFault(.noRoom, "the disk is full")
        }
    }

    /// What lies in the Inbox, in the order in which it came.
    package var stored: [Stored] { state.withLock { $0.stored } }

    package var names: [String] { stored.map(\.name) }

    package subscript(name: String) -> Stored? { stored.first { $0.name == name } }

    /// Items that are staged now: neither committed nor discarded. 0 after every transfer, or something was left behind.
    package var stagedCount: Int { state.withLock { $0.staged } }

    /// Items that have ever been staged.
    package var everStagedCount: Int { state.withLock { $0.everStaged } }

    /// How many items each call of `commit` had.
    package var batches: [Int] { state.withLock { $0.batches } }

    package func freeRoom() throws(TransferFault) -> UInt64 {
        try attempt(.freeRoom)
        return room
    }

    package func stage(transfer: TransferID, item: Int, isTree: Bool) throws(TransferFault) -> any StagedItem {
        try attempt(.stage(item: item))
        state.withLock { state in
            state.staged += 1
            state.everStaged += 1
        }
        return MemoryStagedItem(self, isTree: isTree)
    }

    package func commit(
        _ items: [ItemToCommit],
        announcing: ([FileIdentity?]) throws(TransferFault) -> Void
    ) -> [Result<StoredItem, TransferFault>] {
        let first = state.withLock { state in
            state.batches.append(items.count)
            state.announced += items.count
            return state.announced - items.count
        }
        do {
            try announcing(items.indices.map { FileIdentity(device: 0, inode: UInt64(first + $0)) })
        } catch {
            for item in items { item.staged.discard() }
            return items.map { _ in .failure(error) }
        }
        return items.map { item in
            let name = item.name
            guard let staged = item.staged as? MemoryStagedItem else {
                preconditionFailure("only items that this Inbox has staged can be committed to it")
            }
            let (isTree, entries) = staged.use()
            if let fault = fault(.commit(name: name.text)) { return .failure(fault) }
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
                return StoredItem(name: free, path: "/memory/Inbox/" + place(free))
            }
            return .success(stored)
        }
    }

    /// Nothing is ever left between announcing and storing here.
    package func find(
        _ identities: Set<FileIdentity>, in folders: Set<SafeRelativePath>
    ) -> [FileIdentity: StoredItem] { [:] }

    fileprivate func attempt(_ operation: Operation) throws(TransferFault) {
        if let fault = fault(operation) { throw fault }
    }
}

/// An item that is being written to memory; guards the order of calls that `StagedItem` asks for.
private final class MemoryStagedItem: StagedItem {
    private struct State {
        var entries: [String: MemoryInbox.Entry] = [:]
        var file: FileEntry?
        var bytes: [UInt8] = []
        var hasFailed = false
        var isUsedUp = false
    }

    private let inbox: MemoryInbox
    private let isTree: Bool
    private let state = Mutex(State())

    init(_ inbox: MemoryInbox, isTree: Bool) {
        self.inbox = inbox
        self.isTree = isTree
    }

    deinit { discard() }

    func beginFile(_ entry: FileEntry) throws(TransferFault) {
        let path = entry.path?.text ?? ""
        try step(.beginFile(path: path)) { (state) throws(TransferFault) in
            precondition(state.file == nil, "a file was begun inside another: call endFile first")
            precondition(isTree == (entry.path != nil), "files of a tree have a path, an item that is a file has none")
            try self.place(path, in: state)
            state.file = entry
            state.bytes = []
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(TransferFault) {
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

    func endFile() throws(TransferFault) {
        try step(.endFile) { state in
            guard let file = state.file else { preconditionFailure("a file was ended that had not begun") }
            state.entries[file.path?.text ?? ""] = .file(
                state.bytes, executable: file.executable, modified: file.modified)
            state.file = nil
            state.bytes = []
        }
    }

    func makeFolder(_ path: SafeRelativePath) throws(TransferFault) {
        try step(.makeFolder(path: path.text)) { (state) throws(TransferFault) in
            precondition(state.file == nil && isTree, "folders belong into trees, and not into the middle of a file")
            try self.place(path.text, in: state)
            state.entries[path.text] = .folder(modified: nil)
        }
    }

    func makeLink(_ path: SafeRelativePath, target: SafeLinkTarget) throws(TransferFault) {
        try step(.makeLink(path: path.text)) { (state) throws(TransferFault) in
            precondition(state.file == nil && isTree, "links belong into trees, and not into the middle of a file")
            try self.place(path.text, in: state)
            state.entries[path.text] = .link(target: target.text)
        }
    }

    func closeFolder(_ path: SafeRelativePath?, modified: Timestamp?) throws(TransferFault) {
        try step(.closeFolder) { (state) throws(TransferFault) in
            precondition(state.file == nil && isTree, "folders belong into trees, and not into the middle of a file")
            if let path {
                guard case .folder? = state.entries[path.text] else {
                    throw TransferFault(.unsafeName, "there is no folder \(path)")
                }
            }
            state.entries[path?.text ?? ""] = .folder(modified: modified)
        }
    }

    /// Memory is not looked into; the real thing's tests do that.
    func contentVerdict(declared: UniformType) -> ContentVerdict? { nil }

    func discard() {
        let wasUsedUp = state.withLock { state in
            defer { state.isUsedUp = true }
            return state.isUsedUp
        }
        if !wasUsedUp { inbox.state.withLock { $0.staged -= 1 } }
    }

    /// Takes what has been written, for the commit.
    func use() -> (isTree: Bool, entries: [String: MemoryInbox.Entry]) {
        state.withLock { state in
            precondition(!state.isUsedUp, "an item was committed twice, or after it was discarded")
            precondition(!state.hasFailed, "an item was committed after a fault: discard it")
            precondition(state.file == nil, "an item was committed in the middle of a file")
        }
        discard()
        return (isTree, state.withLock { $0.entries })
    }

    /// As on a disk: the name is free, and the folder is there.
    private func place(_ path: String, in state: State) throws(TransferFault) {
        if state.entries[path] != nil { throw TransferFault(.unsafeName, "\(path) is there already") }
        guard let slash = path.lastIndex(of: "/") else { return }
        guard case .folder? = state.entries[String(path[..<slash])] else {
            throw TransferFault(.unsafeName, "the folder of \(path) is not there")
        }
    }

    private func step(
        _ operation: MemoryInbox.Operation,
        _ body: (inout State) throws(TransferFault) -> Void
    ) throws(TransferFault) {
        let result: Result<Void, TransferFault> = state.withLock { state in
            precondition(!state.isUsedUp, "an item was written to after it was committed or discarded")
            precondition(!state.hasFailed, "an item was written to after a fault: discard it")
            do throws(TransferFault) {
                try inbox.attempt(operation)
                try body(&state)
                return .success(())
            } catch {
                state.hasFailed = true
                return .failure(error)
            }
        }
        try result.get()
    }
}
