import Inbox
import Sharing

func name(_ text: String) throws -> SafeName { try SafeName(text) }

func place(_ text: String) throws -> SafeRelativePath { try SafeRelativePath(text) }

func entry(
    _ path: String?,
    size: UInt64? = nil,
    executable: Bool = false,
    modified: Timestamp? = nil
) throws -> FileEntry {
    FileEntry(path: try path.map { try SafeRelativePath($0) }, executable: executable, modified: modified, size: size)
}

extension StagedItem {
    func write(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try self.write($0) }
    }

    func add(_ entry: FileEntry, _ text: String = "") throws {
        try beginFile(entry)
        try write(Array(text.utf8))
        try endFile()
    }
}

extension FileInbox {
    /// A complete staged file.
    func stagedFile(
        _ text: String,
        executable: Bool = false,
        modified: Timestamp? = nil
    ) throws -> any StagedItem {
        let staged = try stage(transfer: TransferID(), item: 0, isTree: false)
        try staged.add(try entry(nil, size: UInt64(text.utf8.count), executable: executable, modified: modified), text)
        return staged
    }

    func stagedTree() throws -> any StagedItem {
        try stage(transfer: TransferID(), item: 0, isTree: true)
    }

    /// Moves one item into the Inbox.
    @discardableResult
    func store(_ staged: any StagedItem, as text: String) throws -> StoredItem {
        let results = commit([ItemToCommit(staged, as: try SafeName(text))])
        return try results[0].get()
    }
}

/// The code of the fault that `body` throws; nil if it throws none.
func faultCode(_ body: () throws -> Void) -> TransferError.Code? {
    do {
        try body()
        return nil
    } catch let fault as TransferError {
        return fault.code
    } catch {
        return .unexpected
    }
}
