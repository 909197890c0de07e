import CLinuxShims
import Glibc
package import Sharing
import SystemCalls
import UniformTypes

/// A folder with everything in it.
package final class TreeSource: ItemSource {
    package let offered: OfferedItem
    package let origin: String

    private let path: String
    private let totals: TreeTotals
    private let selection: TreeSelection

    /// Walks through the folder once, to count its entries and to find those that cannot be sent.
    ///
    /// - Parameters:
    ///   - path: the folder's path; a link there is followed.
    ///   - name, type: of the item.
    ///   - selection: the entries that are sent.
    ///   - leftOut: called with each entry that cannot be sent and is left out.
    /// - Throws: `SourceError` for the entries that cannot be sent.
    init(
        path: String, name: SafeName, type: UniformType, selection: TreeSelection = .everything,
        leftOut: @escaping (SourceError) -> Void = { _ in }
    ) throws(SourceError) {
        self.path = path
        self.origin = path
        var selected = TreeSelection(excluded: selection.excluded)
        let needs: DiskNeeds
        (self.totals, needs) = try TreeCount.totals(of: Self.open(path), origin: path, selection: selection) { fault in
            selected.skipsUnsendable = true
            leftOut(fault)
        }
        // If all entries could be sent before, one that cannot be sent now is a change.
        self.selection = selected
        var offered = OfferedItem(kind: .tree, name: name, type: type, size: totals.bytes, entries: totals.entries)
        offered.needs = needs.isEmpty ? nil : needs
        self.offered = offered
    }

    package var largestFile: UInt64? { totals.largestFile }

    package func open() throws(SourceError) -> any ItemReading {
        let walk = try FolderWalk(Self.open(path), origin: origin, isOffered: true, selection: selection)
        return TreeReading(walk, offered: totals, origin: origin)
    }

    /// Follows no link below the folder.
    package func open(_ file: SafeRelativePath) throws(SourceError) -> any ItemReading {
        let root = try Self.open(path)
        let display = PathText.joined(origin, file.text)
        let opened: OpenedFile?
        do {
            let raw = try systemCall { CLinuxShims_openat2_beneath(root.raw, file.text, OpenedFile.flags, 0) }
            opened = try OpenedFile.make(FileDescriptor(owning: raw), display: display)
        } catch  where error.number == ENOSYS || error.number == EPERM {
            // Before Linux 5.6, and in some containers.
            return try walk(to: file)
        } catch  where [ELOOP, ENOTDIR, ENXIO].contains(error.number) {
            throw .changed(display, "it is another kind of item now")
        } catch {
            throw .disk(display, error)
        }
        guard let opened else { throw .changed(display, "it is no longer a file") }
        return FileReading(opened)
    }

    private static func open(_ path: String) throws(SourceError) -> FileDescriptor {
        do {
            let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
            return FileDescriptor(owning: try systemCall { Glibc.open(path, flags) })
        } catch {
            throw .disk(path, error)
        }
    }
}

/// Reads a folder for the second time, now with the contents of its files.
final class TreeReading: ItemReading {
    private let walk: FolderWalk
    private let offered: TreeTotals
    private let origin: String
    private var totals = TreeTotals()
    private var file: OpenedFile?
    private var ahead = TreeReadAhead()

    init(_ walk: FolderWalk, offered: TreeTotals, origin: String) {
        self.walk = walk
        self.offered = offered
        self.origin = origin
    }

    func next() throws(SourceError) -> ContentStep? {
        precondition(file == nil, "the file before was not read to its end")
        while let step = try walk.next() {
            switch step {
            case .folder(let path):
                try count(totals.addEntry())
                return .folder(path)
            case .link(let path, let target):
                try count(totals.addEntry())
                return .link(path, target: target)
            case .file(let path):
                do throws(SourceError) {
                    return .file(try begin(path))
                } catch {
                    guard error.code == .unreadable else { throw error }
                    try walk.leaveOut(error)
                }
            case .folderClosed(let path, let modified):
                if path == nil, totals != offered { throw .changed(origin, "it has fewer entries") }
                return .folderClosed(path, modified: modified)
            }
        }
        return nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        // After its end a file has no more bytes.
        let count = try file?.read(into: buffer) ?? 0
        if count == 0 {
            if file?.wasAwaited == true { ahead.follow(walk) }
            file = nil
        }
        return count
    }

    func seek(to offset: UInt64) throws(SourceError) {
        try file?.seek(to: offset)
    }

    private func begin(_ path: SafeRelativePath) throws(SourceError) -> FileEntry {
        let display = walk.display(path)
        var opened: OpenedFile?
        do {
            let raw = try walk.withFile { folder, name throws(SystemError) in
                try systemCall { openat(folder, name, OpenedFile.flags | O_NOFOLLOW) }
            }
            opened = try OpenedFile.make(FileDescriptor(owning: raw), display: display)
        } catch {
            throw walk.fault(display, error)
        }
        guard let opened = opened.take() else { throw .changed(display, "it is no longer a file") }
        try count(totals.addFile(bytes: opened.size))
        let entry = FileEntry(
            path: path,
            executable: opened.executable,
            modified: opened.modified,
            size: opened.size
        )
        file = consume opened
        ahead.advance()
        return entry
    }

    /// Ends the reading as soon as the folder exceeds the offer, not only at the end.
    private func count(_ fits: Bool) throws(SourceError) {
        if !fits || totals.entries > offered.entries || totals.bytes > offered.bytes {
            throw .changed(origin, "it has more entries")
        }
    }
}
