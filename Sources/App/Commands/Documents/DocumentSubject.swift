import Glibc
import Inbox
import ItemSources
import Journal
import Lines
import Sharing
import SystemCalls
import UniformTypes

/// A file, a folder or an item of the Inbox that a verb shows or hands on.
struct DocumentSubject {
    private(set) var path: String
    /// The beginning of its lines, escaped.
    let head: String
    /// The type that it claims: by its name or, of an item, in its offer.
    let declared: UniformType
    let isFolder: Bool
    /// The item of the Inbox; nil for another file.
    let arrival: Arrival?

    /// - Throws: `CommandError` `inputMissing` if it cannot be read, or is neither a file nor a folder.
    init(path: String, _ registry: TypeRegistry) throws(CommandError) {
        var status = stat()
        if stat(path, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) {
            throw CommandError(
                .inputMissing, "\(TerminalText.escaped(path, limit: 1_000)): it is neither a file nor a folder")
        }
        do throws(SourceError) {
            let (type, kind) = try ItemSources.look(at: path, registry: registry)
            (declared, isFolder) = (type, kind == .directory)
        } catch {
            throw CommandError(error)
        }
        (self.path, head, arrival) = (path, TerminalText.escaped(path, limit: 1_000), nil)
    }

    /// - Parameters:
    ///   - item: number, name or path of an item in the Inbox.
    ///   - reader: the reader of a sealed one.
    /// - Throws: `CommandError` `inputMissing` if it is not there; `locked`, `noRoom` for a sealed one, of which the path
    ///   is that of a clear copy.
    init(item: String, for reader: ClearDocument.Reader = .applications) throws(CommandError) {
        try self.init(item: ChosenItem(word: item), for: reader)
    }

    /// The same for an item that was named or selected.
    init(item: ChosenItem, for reader: ClearDocument.Reader = .applications) throws(CommandError) {
        try self.init(stored: item)
        if let arrival, arrival.protection.isSealed { path = try ClearDocument.path(of: arrival, for: reader) }
    }

    /// - Parameter item: an item in the Inbox, which stays as it is: a sealed one cannot be read.
    /// - Throws: `CommandError` `inputMissing` if it is not there.
    init(stored item: ChosenItem) throws(CommandError) {
        let entry: JournalEntry
        switch item {
        case .item(let found): entry = found
        case .unknown(let word):
            throw CommandError(.inputMissing, JournalReading.unknown(word), hint: "see: waft history")
        }
        head = FindingText.head(entry)
        if let left = JournalText.departure(entry) { throw CommandError(.inputMissing, "\(head): \(left)") }
        var status = stat()
        guard lstat(entry.arrival.stored.path, &status) == 0 else {
            throw CommandError(.inputMissing, "\(head): it is no longer in the Inbox")
        }
        let arrival = entry.arrival
        (path, declared, self.arrival) = (arrival.stored.path, arrival.item.type, arrival)
        isFolder = status.st_mode & S_IFMT == S_IFDIR
    }

    /// The type of its bytes, as it claims. A received URL is stored as a shortcut.
    var form: UniformType { arrival?.item.kind == .url ? .internetShortcut : declared }

    /// Bytes of a file that is no item; nil for a folder.
    var fileSize: UInt64? {
        var status = stat()
        guard !isFolder, stat(path, &status) == 0 else { return nil }
        return UInt64(max(0, status.st_size))
    }

    /// For the lines of `--json`.
    var event: EventLine.Subject { arrival.map { .item(EventLine.ArrivalName($0)) } ?? .path(path) }

    /// Opens it for reading.
    /// - Returns: the open file, which the caller closes, and its size in bytes.
    /// - Throws: `CommandError` `inputMissing` if it cannot be read, or is no regular file.
    func open() throws(CommandError) -> (file: Int32, size: UInt64) {
        // Links of the user's own files are followed; an item is never one. Opening a pipe would wait for its other end.
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (arrival == nil ? 0 : O_NOFOLLOW)
        let file = Glibc.open(path, flags)
        guard file >= 0 else {
            throw CommandError(.inputMissing, "\(head): it cannot be read: \(SystemError.last)")
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw CommandError(.inputMissing, "\(head): it is no file")
        }
        return (file, UInt64(max(0, status.st_size)))
    }
}
