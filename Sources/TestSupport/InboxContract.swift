package import Sharing

/// What every `InboxStoring` is held to, the real one and the fake: the port's comments as checks.
///
/// Give it an empty Inbox and a look into it:
///
///     #expect(InboxContract(inbox, names: { … }).violations() == [])
package final class InboxContract {
    private let inbox: any InboxStoring
    private let names: () -> [String]
    private let transfer = TransferID()
    private var broken: [String] = []

    /// - Parameter names: what lies in the Inbox, as a user would see it, in order.
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
        } catch {
            broken.append("what is allowed failed: \(error)")
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
        expect(names() == before, "an item that is let go of is discarded")
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

    /// Checks that a fault of the code `unsafeName` comes, and that the item can be discarded after it.
    private func expectRefusal(_ sentence: String, _ steps: (any StagedItem) throws -> Void) {
        let before = names()
        do {
            let tree = try inbox.stage(transfer: transfer, item: 3, isTree: true)
            defer { tree.discard() }
            try steps(tree)
            expect(false, sentence)
        } catch {
            expect((error as? TransferFault)?.code == .unsafeName, "\(sentence): \(error)")
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
