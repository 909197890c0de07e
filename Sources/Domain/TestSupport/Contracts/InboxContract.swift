import Digests
package import Sharing

/// The contract of every `InboxStoring`, the real one and the fake: the port's comments as checks.
///
/// Give it an empty Inbox and a look into it:
///
///     #expect(InboxContract(inbox, names: { … }).violations() == [])
package final class InboxContract {
    private let inbox: any InboxStoring
    private let names: () -> [String]
    private let transfer = TransferID()
    private var broken: [String] = []

    /// - Parameter names: returns the names in the Inbox, as a user would see them, in order.
    package init(_ inbox: any InboxStoring, names: @escaping () -> [String]) {
        self.inbox = inbox
        self.names = names
    }

    /// - Returns: the sentences of the contract that do not hold; empty for a good Inbox.
    package func violations() -> [String] {
        do {
            try staging()
            try discarding()
            try collisions()
            try trees()
            try keeping()
            try keepingTrees()
        } catch {
            broken.append("an allowed call failed: \(error)")
        }
        return broken
    }

    private func expect(_ holds: Bool, _ sentence: String) {
        if !holds { broken.append(sentence) }
    }

    private func staging() throws {
        expect(names().isEmpty, "the Inbox that is checked is empty at first")
        _ = try inbox.freeRoom()
        let item = try wholeFile()
        expect(names().isEmpty, "nothing of a staged item can be seen")
        let results = inbox.commit([(item, safe("a.txt"))])
        expect(results.count == 1, "there is a result for each item")
        let stored = try results[0].get()
        expect(stored.name == safe("a.txt"), "a name that is free is given")
        expect(stored.path.hasPrefix("/") && stored.path.hasSuffix("/a.txt"), "the path is absolute and has the name")
        expect(names() == ["a.txt"], "a committed item can be seen")
        item.discard()
        expect(names() == ["a.txt"], "discarding an item that was committed changes nothing")
        expect(inbox.commit([ItemToCommit]()).isEmpty, "nothing can be committed")
    }

    private func discarding() throws {
        let before = names()
        let item = try wholeFile()
        item.discard()
        item.discard()
        expect(names() == before, "an item can be discarded twice, and nothing of it remains")
        let half = try inbox.stage(transfer: transfer, item: 1, isTree: false)
        try half.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 10))
        try write([1, 2, 3], to: half)
        half.discard()
        _ = try wholeFile()
        expect(names() == before, "a released item is discarded")
    }

    private func collisions() throws {
        let results = inbox.commit([
            (try wholeFile(), safe("b.txt")), (try wholeFile(), safe("b.txt")), (try wholeFile(), safe("a.txt")),
        ])
        expect(
            results.map { try? $0.get().name.text } == ["b.txt", "b-1.txt", "a-1.txt"],
            "names that are taken are numbered before their extension, in order")
        expect(names() == ["a-1.txt", "a.txt", "b-1.txt", "b.txt"], "nothing that exists is replaced")
    }

    private func trees() throws {
        let folder = try SafeRelativePath("d")
        let file = try folder.appending(safe("f"))
        let link = try SafeRelativePath("l")
        let tree = try inbox.stage(transfer: transfer, item: 2, isTree: true)
        try tree.makeFolder(folder)
        try tree.beginFile(FileEntry(path: file, executable: true, modified: nil, size: nil))
        try write([1], to: tree)
        try tree.endFile()
        try tree.closeFolder(folder, modified: Timestamp(seconds: 1_000_000_000, nanoseconds: 0))
        try tree.makeLink(link, target: try SafeLinkTarget("d/f", of: link))
        try tree.closeFolder(nil, modified: nil)
        let results = inbox.commit([(tree, safe("tree"))])
        expect(results.map { try? $0.get().name.text } == ["tree"], "a tree is stored as a whole")

        expectRefusal("a file is not put into a folder that is not there") { tree in
            try tree.beginFile(FileEntry(path: file, executable: false, modified: nil, size: 0))
        }
        expectRefusal("a folder is not put where one is") { tree in
            try tree.makeFolder(folder)
            try tree.makeFolder(folder)
        }
        expectRefusal("a file is not put where a folder is") { tree in
            try tree.makeFolder(folder)
            try tree.beginFile(FileEntry(path: folder, executable: false, modified: nil, size: 0))
        }
        expectRefusal("a link is not put where a folder is") { tree in
            try tree.makeFolder(folder)
            try tree.makeLink(folder, target: try SafeLinkTarget("x", of: folder))
        }
        expectRefusal("nothing is put behind a link") { tree in
            try tree.makeLink(folder, target: try SafeLinkTarget("x", of: folder))
            try tree.beginFile(FileEntry(path: file, executable: false, modified: nil, size: 0))
        }
    }

    private func key(_ name: String, isTree: Bool = false) throws -> PartialKey {
        let item = OfferedItem(
            kind: isTree ? .tree : .file, name: safe(name), type: uniform(isTree ? "public.folder" : "public.data"),
            size: 10)
        guard let key = PartialKey(item, from: .sample(1)) else { preconditionFailure("its size is known") }
        return key
    }

    private func entry(_ path: SafeRelativePath?, size: UInt64, offset: UInt64 = 0) -> FileEntry {
        var entry = FileEntry(path: path, executable: false, modified: nil, size: size)
        entry.offset = offset
        return entry
    }

    private func kept(_ key: PartialKey) -> [KeptFile] {
        var files: [KeptFile] = []
        inbox.readKept(key, .xxh3_128) {
            files.append($0)
            return true
        }
        return files
    }

    private func keeping() throws {
        let before = names()
        let key = try key("kept.bin")
        expect(!inbox.hasKept(key) && kept(key).isEmpty, "nothing is kept at first")
        let first = try inbox.stage(transfer: transfer, item: 4, isTree: false, partial: key)
        let second = try inbox.stage(transfer: transfer, item: 4, isTree: false, partial: key)
        expect(!inbox.hasKept(key), "an item that is being written has no kept part")
        try second.beginFile(entry(nil, size: 10))
        try write([9], to: second)
        second.keep()
        expect(!inbox.hasKept(key), "of two that write the same item the first is kept")
        try first.beginFile(entry(nil, size: 10))
        try write([1, 2, 3, 4], to: first)
        first.keep()
        first.keep()
        expect(inbox.hasKept(key), "the written part is kept")
        expect(
            kept(key) == [
                KeptFile(
                    pathHash: KeptFile.pathHash(""), size: 4, blockExponent: 20,
                    digests: [.of(.xxh3_128, [1, 2, 3, 4] as [UInt8])])
            ], "kept parts have checksums")
        expect(inbox.hasKept(key), "a kept part stays after it was read")
        expect(names() == before, "nothing that is kept can be seen")

        let item = OfferedItem(kind: .file, name: safe("kept.bin"), type: uniform("public.data"), size: 1 << 20)
        inbox.boundKept(of: .sample(2), to: 0, besides: [])
        inbox.boundKept(of: .sample(1), to: 0, besides: [item])
        expect(inbox.hasKept(key), "kept parts of other peers, and of expected items, are not bounded")

        let tooFar = try inbox.stage(transfer: transfer, item: 5, isTree: false, partial: key)
        do {
            try tooFar.resumeFile(entry(nil, size: 10, offset: 5)) { _ in }
            expect(false, "an offset beyond the kept part is refused")
        } catch {
            expect(error.code == .notKept, "an offset beyond the kept part is refused")
        }
        tooFar.keep()
        expect(inbox.hasKept(key), "a part that could not be resumed is kept")

        let resumed = try inbox.stage(transfer: TransferID(), item: 0, isTree: false, partial: key)
        var seen: [UInt8] = []
        try resumed.resumeFile(entry(nil, size: 5, offset: 3)) { seen += $0 }
        expect(seen == [1, 2, 3], "the resumed part is shown as it is on the disk")
        try write([7, 8], to: resumed)
        try resumed.endFile()
        try resumed.removeLeftovers()
        let stored = try inbox.commit([(resumed, safe("kept.bin"))])[0].get()
        let digest = try inbox.digest(of: arrival(stored, size: 5), .xxh3_128)
        expect(digest == .of(.xxh3_128, [1, 2, 3, 7, 8] as [UInt8]), "kept and received parts are one file")
        expect(inbox.seemsPresent(try arrival(stored, size: 5)), "a stored item seems to be there")
        expect(!inbox.seemsPresent(try arrival(stored, size: 6)), "a file of another size is not the one")
        expect(!inbox.hasKept(key), "a committed item has no kept part")

        let bound = try inbox.stage(transfer: transfer, item: 4, isTree: false, partial: key)
        try bound.beginFile(entry(nil, size: 10))
        try write([1], to: bound)
        inbox.boundKept(of: .sample(1), to: 0, besides: [])
        bound.keep()
        expect(inbox.hasKept(key), "items that are being written are not bounded")
        inbox.boundKept(of: .sample(1), to: 1 << 20, besides: [])
        expect(inbox.hasKept(key), "kept parts within the bound stay")
        inbox.boundKept(of: .sample(1), to: 0, besides: [])
        expect(!inbox.hasKept(key), "the kept parts of a peer can be bounded")

        let gone = try inbox.stage(transfer: transfer, item: 4, isTree: false, partial: key)
        try gone.beginFile(entry(nil, size: 10))
        try write([1], to: gone)
        gone.discard()
        expect(!inbox.hasKept(key), "a discarded item has no kept part")
        try inbox.stage(transfer: transfer, item: 4, isTree: false, partial: key).keep()
        expect(!inbox.hasKept(key), "nothing is kept where nothing came")
    }

    private func arrival(_ stored: StoredItem, size: UInt64) throws -> Arrival {
        let item = OfferedItem(kind: .file, name: stored.name, type: uniform("public.data"), size: size)
        let facts = ArrivalFacts(
            transfer: transfer, itemNumber: 0, itemsInOffer: 1, item: item, size: size,
            digest: .of(.xxh3_128, [] as [UInt8]), peer: .sample(1), senderName: "", annotation: [:])
        return Arrival(number: ArrivalNumber(1), facts: facts, stored: stored)
    }

    private func keepingTrees() throws {
        let key = try key("kept tree", isTree: true)
        let (a, b, c, l) = (
            try SafeRelativePath("a"), try SafeRelativePath("b"), try SafeRelativePath("c"), try SafeRelativePath("l")
        )
        let (aFile, bFile) = (try a.appending(safe("f")), try b.appending(safe("f")))
        let first = try inbox.stage(transfer: transfer, item: 6, isTree: true, partial: key)
        try first.makeFolder(a)
        try file([1, 1], at: aFile, in: first)
        try first.makeFolder(b)
        try file([2, 2], at: bFile, in: first)
        try file([3], at: c, in: first)
        try first.makeLink(l, target: try SafeLinkTarget("a", of: l))
        first.keep()
        expect(Set(kept(key).map(\.size)) == [1, 2] && kept(key).count == 3, "the files of a tree are kept")

        let hidden = try inbox.stage(transfer: transfer, item: 6, isTree: true, partial: key)
        do {
            try hidden.beginFile(entry(aFile, size: 1))
            expect(false, "a folder that has not come again is not there")
        } catch {
            expect(error.code == .unsafeName, "a folder that has not come again is not there")
        }
        hidden.keep()

        let again = try inbox.stage(transfer: transfer, item: 6, isTree: true, partial: key)
        try again.makeFolder(a)
        try again.resumeFile(entry(aFile, size: 3, offset: 2)) { _ in }
        try write([9], to: again)
        try again.endFile()
        try file([5], at: b, in: again)
        try again.makeFolder(l)
        try again.makeLink(c, target: try SafeLinkTarget("b", of: c))
        do {
            try again.makeFolder(a)
            expect(false, "a received entry is not replaced")
        } catch {
            expect(error.code == .unsafeName, "a received entry is not replaced")
        }
        again.keep()

        let last = try inbox.stage(transfer: transfer, item: 6, isTree: true, partial: key)
        try last.makeFolder(a)
        try last.resumeFile(entry(aFile, size: 3, offset: 3)) { _ in }
        try last.endFile()
        try last.removeLeftovers()
        let stored = try inbox.commit([(last, safe("kept tree"))])[0].get()
        var listing = TreeListing(.xxh3_128)
        listing.folder(a)
        listing.file(aFile, executable: false, digest: .of(.xxh3_128, [1, 1, 9] as [UInt8]))
        var wanted = try arrival(stored, size: 3)
        wanted.facts.item.kind = .tree
        expect(
            try inbox.digest(of: wanted, .xxh3_128) == listing.finalize(),
            "a tree has the entries that came again, and no others")
    }

    private func file(_ bytes: [UInt8], at path: SafeRelativePath, in tree: any StagedItem) throws {
        try tree.beginFile(entry(path, size: UInt64(bytes.count)))
        try write(bytes, to: tree)
        try tree.endFile()
    }

    /// Checks that the steps throw a fault of the code `unsafeName`, and that the item can be discarded after it.
    private func expectRefusal(_ sentence: String, _ steps: (any StagedItem) throws -> Void) {
        let before = names()
        do {
            let tree = try inbox.stage(transfer: transfer, item: 3, isTree: true)
            defer { tree.discard() }
            try steps(tree)
            expect(false, sentence)
        } catch {
            expect((error as? TransferError)?.code == .unsafeName, "\(sentence): \(error)")
        }
        expect(names() == before, "a refused item leaves nothing")
    }

    private func wholeFile() throws -> any StagedItem {
        let item = try inbox.stage(transfer: transfer, item: 0, isTree: false)
        try item.beginFile(FileEntry(path: nil, executable: false, modified: nil, size: 3))
        try write([1, 2, 3], to: item)
        try item.endFile()
        return item
    }

    private func write(_ bytes: [UInt8], to item: any StagedItem) throws {
        try bytes.withUnsafeBytes { bytes in try item.write(bytes) }
    }
}
