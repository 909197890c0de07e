import Foundation
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("Items that their user renames or moves in the Inbox")
struct RenameTests {
    private let folder = TemporaryFolder()
    private let transfer = TransferID()
    private var inbox: String { folder.path }

    /// Makes an item as a receiver does.
    private func item(_ number: Int64, _ name: String, isFolder: Bool = false) throws -> JournaledItem {
        let path = inbox + "/" + name
        if isFolder {
            try FileManager.default.createDirectory(atPath: path + "/inside", withIntermediateDirectories: true)
        } else {
            try Data(name.utf8).write(to: URL(fileURLWithPath: path))
        }
        try mark(path, transfer.text)
        var status = stat()
        #expect(lstat(path, &status) == 0)
        return JournaledItem(
            number: ArrivalNumber(number), stored: StoredItem(name: try SafeName(name), path: path),
            identity: FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)), transfer: transfer,
            kind: isFolder ? .tree : .file, isSealedFile: false)
    }

    private func mark(_ path: String, _ transfer: String) throws {
        let file = open(path, O_RDONLY)
        try #require(file >= 0)
        defer { close(file) }
        ExtendedAttributes.set([(name: Provenance.transfer, value: Array(transfer.utf8))], on: file)
        try #require(ExtendedAttributes.read(Provenance.transfer, of: path) != nil, "there are attributes here")
    }

    private func move(_ from: String, _ to: String) { #expect(rename(inbox + "/" + from, inbox + "/" + to) == 0) }

    private func found(_ items: [JournaledItem]) -> [Int64: String] {
        let found = InboxRenames.find(items, inbox: inbox)
        return Dictionary(
            uniqueKeysWithValues: found.map { ($0.key.value, String($0.value.path.dropFirst(inbox.count + 1))) })
    }

    @Test("are found under their new names, in folders too, and two that change their names with each other")
    func moved() throws {
        let items = [
            try item(1, "a"), try item(2, "b"), try item(3, "tree", isFolder: true), try item(4, "c"), try item(5, "d"),
            try item(6, "stays"),
        ]
        #expect(found(items) == [:])
        try FileManager.default.createDirectory(atPath: inbox + "/done/2026", withIntermediateDirectories: true)
        move("a", "e")
        move("b", "done/2026/b")
        move("tree", "done/wood")
        move("c", "swap")
        move("d", "c")
        move("swap", "d")
        #expect(found(items) == [1: "e", 2: "done/2026/b", 3: "done/wood", 4: "d", 5: "c"])
    }

    @Test("are not mixed up with copies, links, replaced files, or files that got the inode of a removed item")
    func others() throws {
        let items = [try item(1, "a"), try item(2, "b"), try item(3, "c"), try item(4, "d")]
        // A hard link: the item is where it was.
        #expect(link(inbox + "/a", inbox + "/a-link") == 0)
        // A copy with its attributes, and then the item is removed.
        try FileManager.default.copyItem(atPath: inbox + "/b", toPath: inbox + "/b-copy")
        try mark(inbox + "/b-copy", transfer.text)
        unlink(inbox + "/b")
        // An editor puts a new file in its place, and keeps the old one.
        move("c", "c~")
        try Data("new".utf8).write(to: URL(fileURLWithPath: inbox + "/c"))
        // The inode belongs to a file of another program now.
        move("d", "e")
        try mark(inbox + "/e", TransferID().text)
        #expect(found(items) == [:])
    }
}
