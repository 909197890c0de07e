package import Digests
package import UniformTypes

/// Gathers the files of a question into the items of an offer, for dialects whose questions are lists of files.
///
/// Files whose names share a first folder are one item, a folder. Other files are items of their own.
package struct OfferedFiles {
    /// A file's place in the offer.
    package struct Member: Sendable {
        package var item: Int
        /// In its folder; nil for an item that is this file.
        package var path: SafeRelativePath?
        /// Bytes; nil if the sender cannot know.
        package var size: UInt64?
        package var modified: Timestamp?
        package var digest: Digest?

        package init(item: Int, path: SafeRelativePath? = nil, size: UInt64?) {
            (self.item, self.path, self.size) = (item, path, size)
        }
    }

    /// Names that could not be kept.
    package private(set) var remarks = RemarkList()

    private let registry: TypeRegistry
    private var items: [OfferedItem] = []
    private var trees: [String: Int] = [:]
    /// Of each tree.
    private var entries: [Int: (files: Set<SafeRelativePath>, folders: Set<SafeRelativePath>)] = [:]

    package init(_ registry: TypeRegistry) { self.registry = registry }

    /// Items so far.
    package var count: Int { items.count }

    /// Adds one file.
    /// - Parameters:
    ///   - name: composed; with slashes, the path of a file in a folder.
    ///   - size: at most `Limits.itemBytes`.
    ///   - said: the type that the sender names.
    /// - Throws: `protocolViolation`; `unsafeName` for a file that cannot be stored: the others stay as they are.
    package mutating func add(
        _ name: String, size: UInt64, said: UniformType?, modified: Timestamp?, digest: Digest? = nil
    ) throws(TransferError) -> Member {
        guard size <= Limits.itemBytes else { throw Self.malformed("a file of \(size) bytes") }
        let names = try names(of: name)
        var place = Member(item: items.count, size: size)
        (place.modified, place.digest) = (modified, digest)
        if names.count == 1 {
            let type = AnnouncedType.of(said: said, name: names[0].text, kind: .file, registry)
            items.append(OfferedItem(kind: .file, name: names[0], type: type, size: size))
        } else {
            let path = try path(names.dropFirst())
            place.item = tree(names[0])
            place.path = path
            try enter(path, size, in: place.item, name)
        }
        return place
    }

    /// Adds an item that is no file of a list: a text or a URL.
    /// - Returns: its number.
    package mutating func add(_ item: OfferedItem) -> Int {
        items.append(item)
        return items.count - 1
    }

    /// Remarks that a file is left out.
    package mutating func leaveOut(_ name: String, _ reason: TransferError) { remarks.leftOut(name, reason) }

    /// The items with the numbers of their entries.
    package var finishedItems: [OfferedItem] {
        var items = self.items
        for (number, paths) in entries {
            items[number].entries = UInt64(paths.files.count + paths.folders.count + 1)
            var needs = DiskNeeds()
            for path in paths.files { needs.add(path.name) }
            for path in paths.folders { needs.add(path.name, isFile: false) }
            let all = paths.files.union(paths.folders)
            needs.alike = Set(all.map { $0.text.lowercased() }).count < all.count
            items[number].needs = needs.isEmpty ? nil : needs
        }
        return items
    }

    private mutating func names(of name: String) throws(TransferError) -> [SafeName] {
        guard !PathText.isAbsolute(name), name.utf8.count <= SafeRelativePath.maximumBytes else {
            throw unsafe(name, "it is an absolute or a very long path")
        }
        // A dot means the folder that it is in.
        let parts = PathText.names(in: name).filter { $0 != "." }
        guard !parts.isEmpty, !parts.contains("..") else {
            throw unsafe(name, "it is no path below a folder")
        }
        let names = parts.map { SafeName(fitting: String($0)) }
        if zip(parts, names).contains(where: { $0 != $1.text }) {
            remarks.renamed(name, names.map(\.text).joined(separator: "/"))
        }
        return names
    }

    private mutating func tree(_ name: SafeName) -> Int {
        if let number = trees[name.text] { return number }
        let type = AnnouncedType.of(said: nil, name: name.text, kind: .tree, registry)
        items.append(OfferedItem(kind: .tree, name: name, type: type, size: 0, entries: nil))
        trees[name.text] = items.count - 1
        return items.count - 1
    }

    private func path(_ names: ArraySlice<SafeName>) throws(TransferError) -> SafeRelativePath {
        do throws(NameError) {
            return try SafeRelativePath(names.map(\.text).joined(separator: "/"))
        } catch {
            throw unsafe(names.map(\.text).joined(separator: "/"), "\(error)")
        }
    }

    /// Counts a file and the folders around it.
    private mutating func enter(
        _ path: SafeRelativePath, _ size: UInt64, in item: Int, _ name: String
    ) throws(TransferError) {
        let known = entries[item, default: ([], [])]
        guard !known.files.contains(path) else { throw unsafe(name, "another file has the same name") }
        let above = sequence(first: path) { $0.parent }.dropFirst()
        guard !known.folders.contains(path), !above.contains(where: known.files.contains) else {
            throw unsafe(name, "a file and a folder have the same name")
        }
        entries[item, default: ([], [])].files.insert(path)
        var folder = path.parent
        while let next = folder, entries[item, default: ([], [])].folders.insert(next).inserted {
            folder = next.parent
        }
        let (sum, overflow) = (items[item].size ?? 0).addingReportingOverflow(size)
        guard !overflow, sum <= Limits.itemBytes else { throw Self.malformed("a folder of too many bytes") }
        items[item].size = sum
    }

    private static func malformed(_ words: String) -> TransferError {
        TransferError(.protocolViolation, "the message is malformed: \(words)")
    }

    private func unsafe(_ name: String, _ reason: String) -> TransferError {
        TransferError(.unsafeName, "\(PathText.printable(name, limit: 120)) cannot be stored: \(reason)")
    }
}
