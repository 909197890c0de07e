import Glibc
import Sharing
import SystemCalls

/// Walks through a folder and its contents in the order of sending: each folder before its contents, the names in a
/// folder by their bytes.
///
/// Holds the names and one descriptor of each folder on the current path, at most `SafeRelativePath.maximumDepth` + 1
/// of them. It follows no link, and opens each name in the folder that lists it. So the walk never leaves the tree,
/// even if files are moved meanwhile.
final class FolderWalk {
    /// An entry that the walk has reached.
    enum Step {
        case folder(SafeRelativePath)
        /// A regular file at the time its folder was read. `withFile` opens it.
        case file(SafeRelativePath)
        case link(SafeRelativePath, target: SafeLinkTarget)
        case folderClosed(SafeRelativePath?, modified: Timestamp)
    }

    private final class Level {
        let folder: FileDescriptor
        let path: SafeRelativePath?
        let names: FolderNames
        let modified: Timestamp
        private(set) var index = -1

        init(_ folder: consuming FileDescriptor, path: SafeRelativePath?) throws(SystemError) {
            var status = stat()
            let raw = folder.raw
            try systemCall { fstat(raw, &status) }
            self.names = try FolderNames(of: raw)
            self.modified = status.modified
            self.path = path
            self.folder = folder
        }

        /// The same folder at the same name.
        ///
        /// - Throws: if no descriptor is free.
        init(copying level: Level) throws(SystemError) {
            self.folder = try .copy(of: level.folder.raw)
            self.path = level.path
            self.names = level.names
            self.modified = level.modified
            self.index = level.index
        }

        /// - Returns: whether there is another name.
        func advance() -> Bool {
            index += 1
            return index < names.count
        }
    }

    /// The user's name for the folder.
    let origin: String
    private let isOffered: Bool
    private let selection: TreeSelection
    /// Called with each entry that cannot be sent and is left out.
    var leftOut: ((SourceError) -> Void)?
    /// The folder itself stays open after the end of the walk.
    private let root: Level
    private var levels: [Level]

    /// - Parameters:
    ///   - origin: the user's name for the folder; for messages.
    ///   - isOffered: whether the folder has been offered. Then an unsendable entry is reported as a change, because
    ///     there was none at the time of the offer.
    ///   - selection: the entries that the walk reaches.
    init(
        _ root: consuming FileDescriptor, origin: String, isOffered: Bool, selection: TreeSelection = .everything
    ) throws(SourceError) {
        self.selection = selection
        self.origin = origin
        self.isOffered = isOffered
        do {
            self.root = try Level(root, path: nil)
        } catch {
            throw .disk(origin, error)
        }
        self.levels = [self.root]
    }

    /// Another walk that starts at the position of this one.
    ///
    /// - Throws: if no descriptor is free.
    init(copying walk: FolderWalk) throws(SystemError) {
        self.selection = walk.selection
        self.origin = walk.origin
        self.isOffered = walk.isOffered
        self.root = try Level(copying: walk.root)
        self.levels = [root]
        for level in walk.levels.dropFirst() { levels.append(try Level(copying: level)) }
    }

    /// - Throws: for an entry that cannot be sent, with its path and the reason, unless such entries are left out.
    func next() throws(SourceError) -> Step? {
        while let level = levels.last {
            guard level.advance() else {
                levels.removeLast()
                return .folderClosed(level.path, modified: level.modified)
            }
            if try isExcluded(in: level) { continue }
            do throws(SourceError) {
                return try reached(in: level)
            } catch {
                try leaveOut(error)
            }
        }
        return nil
    }

    /// Continues without the last reached entry.
    /// - Throws: `fault`, unless entries that cannot be sent are left out.
    func leaveOut(_ fault: SourceError) throws(SourceError) {
        guard selection.skipsUnsendable else { throw fault }
        leftOut?(fault)
    }

    private func reached(in level: Level) throws(SourceError) -> Step {
        let path = try currentPath(in: level)
        switch try currentKind(in: level) {
        case .file:
            return .file(path)
        case .folder:
            try enter(path, from: level)
            return .folder(path)
        case .link:
            return .link(path, target: try target(of: path, in: level))
        case .special, .unknown:
            throw try special(in: level)
        }
    }

    private func isExcluded(in level: Level) throws(SourceError) -> Bool {
        if selection.excluded.isEmpty { return false }
        let isFolder = try currentKind(in: level) == .folder
        return level.names.withName(at: level.index) { name in
            selection.excludes(
                name, path: level.path.map { "\($0)/" + String(cString: name) } ?? String(cString: name),
                isFolder: isFolder)
        }
    }

    /// Calls `body` with the folder and the name of the last reached file.
    func withFile<Result, Failure: Error>(
        _ body: (_ folder: Int32, _ name: UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let level = levels.last, level.names.count > max(0, level.index) else {
            preconditionFailure("no file has been reached")
        }
        return try level.names.withName(at: level.index) { name throws(Failure) in try body(level.folder.raw, name) }
    }

    /// The path of an entry in the form in which the user would write it.
    func display(_ path: SafeRelativePath) -> String { display(path.text) }

    private func display(_ path: String) -> String { PathText.joined(origin, path) }

    private func displayCurrent(in level: Level) -> String {
        let name = level.names.displayText(at: level.index)
        return display(level.path.map { "\($0)/\(name)" } ?? name)
    }

    // MARK: Entries

    private func currentPath(in level: Level) throws(SourceError) -> SafeRelativePath {
        do throws(NameError) {
            guard let text = level.names.text(at: level.index) else { throw NameError.notUTF8 }
            let name = try SafeName(text)
            guard let folder = level.path else { return SafeRelativePath(name) }
            return try folder.appending(name)
        } catch {
            if isOffered { throw .changed(displayCurrent(in: level), "\(error)") }
            throw .name(displayCurrent(in: level), error)
        }
    }

    private func currentKind(in level: Level) throws(SourceError) -> FolderNames.Kind {
        let known = level.names.kind(at: level.index)
        return known == .unknown ? FolderNames.Kind(mode: try currentStatus(in: level).st_mode) : known
    }

    private func currentStatus(in level: Level) throws(SourceError) -> stat {
        var status = stat()
        do {
            try level.names.withName(at: level.index) { name throws(SystemError) in
                _ = try systemCall { fstatat(level.folder.raw, name, &status, AT_SYMLINK_NOFOLLOW) }
            }
        } catch {
            throw fault(displayCurrent(in: level), error)
        }
        return status
    }

    private func enter(_ path: SafeRelativePath, from level: Level) throws(SourceError) {
        do {
            let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
            let raw = try level.names.withName(at: level.index) { name throws(SystemError) in
                try systemCall { openat(level.folder.raw, name, flags) }
            }
            levels.append(try Level(FileDescriptor(owning: raw), path: path))
        } catch {
            throw fault(display(path), error)
        }
    }

    private func target(of path: SafeRelativePath, in level: Level) throws(SourceError) -> SafeLinkTarget {
        let text: String?
        do {
            text = try level.names.withName(at: level.index) { name throws(SystemError) in
                try readLink(name, in: level.folder.raw)
            }
        } catch {
            throw fault(display(path), error)
        }
        do throws(NameError) {
            guard let text else { throw NameError.notUTF8 }
            return try SafeLinkTarget(text, of: path)
        } catch {
            if isOffered { throw .changed(display(path), "\(error)") }
            let shown = text.map { " (to \(PathText.printable($0)))" } ?? ""
            throw .at(
                display(path),
                .unreadable,
                "the link cannot be sent\(shown): \(error); replace it by its target, or leave it out"
            )
        }
    }

    private func special(in level: Level) throws(SourceError) -> SourceError {
        let path = displayCurrent(in: level)
        let status = try currentStatus(in: level)
        return isOffered ? .changed(path, "it is no longer a file") : .special(path, mode: status.st_mode)
    }

    /// The fault for the kernel's error on an entry whose name has just been read.
    func fault(_ path: String, _ error: SystemError) -> SourceError {
        switch error.number {
        case ENOENT:
            // The entry has been removed since; the first walk can find this too.
            .at(path, .missing, "it disappeared while it was read")
        case ENOTDIR, ELOOP, ENXIO:
            .changed(path, "it is another kind of item now")
        default:
            .disk(path, error)
        }
    }
}

/// - Returns: the target of a link; nil if it is not UTF-8.
/// - Throws: `ENAMETOOLONG` if the target has more bytes than a link that can be sent.
private func readLink(_ name: UnsafePointer<CChar>, in folder: Int32) throws(SystemError) -> String? {
    let limit = SafeLinkTarget.maximumBytes + 1
    return try withUnsafeTemporaryAllocation(byteCount: limit, alignment: 1) { buffer throws(SystemError) in
        guard let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { throw SystemError(ENOMEM) }
        let count = try systemCall { readlinkat(folder, name, base, limit) }
        if count == limit { throw SystemError(ENAMETOOLONG) }
        return String(validating: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
    }
}

extension stat {
    var modified: Timestamp {
        Timestamp(seconds: Int64(st_mtim.tv_sec), nanoseconds: UInt32(clamping: st_mtim.tv_nsec))
    }
}
