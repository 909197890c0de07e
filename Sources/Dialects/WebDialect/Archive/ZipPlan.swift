import Sharing

/// The entries of a ZIP, found before its first byte: so its length is known. A file that differs when it is read ends
/// the ZIP.
struct ZipPlan {
    /// Of each item.
    private(set) var entries: [[ZipEntry]] = []
    let items: [SharedItem]
    /// Stands for times that are not known.
    let now = Timestamp.now

    /// Walks through the items.
    /// - Throws: `SourceError`, or `TooMany`.
    init(_ items: [SharedItem]) throws {
        self.items = items
        var count = 0
        for item in items {
            let found = try Self.entries(of: item, upTo: WebLimits.zipEntries - count)
            count += found.count
            entries.append(found)
        }
    }

    struct TooMany: Error {}

    /// Bytes of the whole ZIP.
    var length: UInt64 {
        var (offset, directory, count) = (0 as UInt64, 0 as UInt64, 0)
        for entry in entries.joined() {
            directory += entry.directoryLength(at: offset)
            offset += entry.length
            count += 1
        }
        let isLarge = ZipFormat.isLarge(entries: count, directory: directory, at: offset)
        return offset + directory + (isLarge ? ZipFormat.largeEndBytes : 0) + ZipFormat.endBytes
    }

    private static func entries(of item: SharedItem, upTo most: Int) throws -> [ZipEntry] {
        let reading = try item.source.open()
        var entries: [ZipEntry] = []
        if item.isTree { entries.append(ZipEntry(kind: .folder, name: item.name.text + "/", size: 0)) }
        var folders: [SafeRelativePath: Int] = [:]
        while let step = try reading.next() {
            if case .folderClosed(let path, let modified) = step {
                let place = path.map { folders.removeValue(forKey: $0) } ?? 0
                if let place, item.isTree { entries[place].modified = modified }
                continue
            }
            guard let entry = ZipEntry(step, in: item) else {
                throw SourceError(.unreadable, "\(item.source.origin) has a size that is not known")
            }
            guard entries.count < most else { throw TooMany() }
            if case .folder(let path) = step { folders[path] = entries.count }
            entries.append(entry)
            guard item.isTree else { break }
            if case .file(let file) = step { try reading.skip(file) }
        }
        return entries
    }
}

extension ZipEntry {
    /// - Returns: nil for the end of a folder, and for a file of an unknown size.
    init?(_ step: ContentStep, in item: SharedItem) {
        let root = item.name.text
        switch step {
        case .folder(let path): self.init(kind: .folder, name: root + "/" + path.text + "/", size: 0)
        case .file(let file):
            guard let size = file.size else { return nil }
            self.init(
                kind: .file(executable: file.executable), name: file.path.map { root + "/" + $0.text } ?? root,
                size: size,
                modified: file.modified)
        case .link(let path, let target):
            self.init(
                kind: .link(target: target.text), name: root + "/" + path.text, size: UInt64(target.text.utf8.count))
        case .folderClosed: return nil
        }
    }
}
