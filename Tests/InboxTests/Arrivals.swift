import Digests
import Foundation
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing
import UniformTypes

@testable import Inbox

/// Items that were received into an Inbox, as the journal records them.
extension FileInbox {
    func receive(_ text: String, as wanted: String, executable: Bool = false) throws -> Arrival {
        let stored = try store(try stagedFile(text, executable: executable), as: wanted)
        return try arrival(of: stored, kind: .file)
    }

    /// A tree of files by their paths. Folders are made as needed.
    func receiveTree(_ files: [String: String], as wanted: String, link: Bool = true) throws -> Arrival {
        let tree = try stagedTree()
        var folders: Set<String> = []
        for (file, text) in files.sorted(by: { $0.key < $1.key }) {
            let names = PathText.names(in: file).dropLast()
            for count in names.indices.map({ $0 + 1 }) {
                let folder = names.prefix(count).joined(separator: "/")
                if folders.insert(folder).inserted { try tree.makeFolder(try place(folder)) }
            }
            try tree.add(try entry(file, executable: file.hasSuffix(".sh")), text)
        }
        if link { try tree.makeLink(try place("link"), target: try SafeLinkTarget("a", of: try place("link"))) }
        return try arrival(of: try store(tree, as: wanted), kind: .tree)
    }

    func arrival(of stored: StoredItem, kind: ItemKind) throws -> Arrival {
        let folder = try FileDescriptor.opening(path, O_RDONLY | O_DIRECTORY)
        let now = try StoredDigest.read(
            stored.name.text, in: folder.raw, isTree: kind == .tree, algorithm: .lasting)
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: kind, name: stored.name, type: .data, size: now.size, entries: now.entries),
            size: now.size, digest: now.digest, peer: .sample(1), senderName: "study", annotation: [:])
        return Arrival(number: ArrivalNumber(1), facts: facts, stored: stored)
    }
}

/// The time of the system's clock, minus some seconds.
func now(minus seconds: Int64 = 0) -> WallTime { WallTime(milliseconds: (Int64(time(nil)) - seconds) * 1_000) }

/// Changes a file that cannot be written to, and keeps its mode and its time.
func rot(_ path: String, at offset: Int, to byte: UInt8 = 0xFF) throws {
    let before = try #require(lstatus(of: path))
    try #require(chmod(path, 0o644) == 0)
    let file = open(path, O_WRONLY | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    let bytes = [byte]
    try #require(pwrite(file, bytes, 1, off_t(offset)) == 1)
    var times = [before.st_atim, before.st_mtim]
    futimens(file, &times)
    try #require(fchmod(file, before.st_mode & 0o7777) == 0)
}
