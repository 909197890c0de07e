import Sharing

/// The entries of a ZIP, found before its first byte: so its length is known. A file that differs when it is read ends
/// the ZIP.
final class ZipPlan: Sendable {
    let items: [SharedItem]
    /// Of all items, one after the other.
    let entries: [ZipEntry]
    /// For each item, the number of entries up to its end.
    let ends: [Int]
    /// Stands for times that are not known.
    let now = Timestamp.now

    /// The memory of the entries.
    private let room: MemoryClaim

    /// Walks through the items.
    /// - Parameter room: for the entries, which take it as they are found.
    /// - Throws: `SourceError`, `TooMany`, or `Downloads.Full`.
    init(_ items: [SharedItem], _ room: MemoryClaim) throws {
        (self.items, self.room) = (items, room)
        var (entries, ends): ([ZipEntry], [Int]) = ([], [])
        for item in items {
            try Self.find(in: item, room, now, &entries)
            ends.append(entries.count)
        }
        (self.entries, self.ends) = (entries, ends)
    }

    /// There are more than `WebLimits.zipEntries`.
    struct TooMany: Error {}

    /// The place of an item's first entry.
    func start(of item: Int) -> Int { item == 0 ? 0 : ends[item - 1] }

    /// Bytes of the whole ZIP.
    var length: UInt64 {
        var (offset, directory, count) = (0 as UInt64, 0 as UInt64, 0)
        for entry in entries {
            directory += entry.directoryLength(at: offset)
            offset += entry.length
            count += 1
        }
        let isLarge = ZipFormat.isLarge(entries: count, directory: directory, at: offset)
        return offset + directory + (isLarge ? ZipFormat.largeEndBytes : 0) + ZipFormat.endBytes
    }

    private static func find(
        in item: SharedItem, _ room: MemoryClaim, _ now: Timestamp, _ entries: inout [ZipEntry]
    ) throws {
        let reading = try item.source.open()
        let root = entries.count
        if item.isTree {
            try add(ZipEntry(kind: .folder, name: item.name.text + "/", size: 0, modified: now), room, &entries)
        }
        var folders: [SafeRelativePath: Int] = [:]
        while let step = try reading.next() {
            if case .folderClosed(let path, let modified) = step {
                let place = path.map { folders.removeValue(forKey: $0) } ?? root
                if let place, item.isTree, let modified { entries[place].modified = modified }
                continue
            }
            guard let entry = ZipEntry(step, in: item, now) else {
                throw SourceError(.unreadable, "\(item.source.origin) has a size that is not known")
            }
            if case .folder(let path) = step { folders[path] = entries.count }
            try add(entry, room, &entries)
            guard item.isTree else { break }
            if case .file(let file) = step { try reading.skip(file) }
        }
    }

    private static func add(_ entry: ZipEntry, _ room: MemoryClaim, _ entries: inout [ZipEntry]) throws {
        guard entries.count < WebLimits.zipEntries else { throw TooMany() }
        guard room.take(entry.memory) else { throw Downloads.Full() }
        entries.append(entry)
    }
}

extension ZipEntry {
    /// - Parameter now: stands for a time that is not known.
    /// - Returns: nil for the end of a folder, and for a file of an unknown size.
    init?(_ step: ContentStep, in item: SharedItem, _ now: Timestamp) {
        let root = item.name.text
        switch step {
        case .folder(let path): self.init(kind: .folder, name: root + "/" + path.text + "/", size: 0, modified: now)
        case .file(let file):
            guard let size = file.size else { return nil }
            self.init(
                kind: .file(executable: file.executable), name: file.path.map { root + "/" + $0.text } ?? root,
                size: size,
                modified: file.modified ?? now)
        case .link(let path, let target):
            self.init(
                kind: .link(target: target.text), name: root + "/" + path.text, size: UInt64(target.text.utf8.count),
                modified: now)
        case .folderClosed: return nil
        }
    }
}
