import Age
import Digests
import Foundation
import Glibc
import Protection
import Secrets
import Sharing
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

/// An Inbox with keys, in a folder of its own.
final class SealedInbox {
    let folder = TemporaryFolder()
    let vault: Vault
    private let identities: VaultIdentities
    private(set) var inbox: FileInbox

    var path: String { folder / "Inbox" }
    var staging: String { folder / ".waft-staging/Inbox" }

    init(placement: Placement = .byRename) throws {
        let protection = ProtectionFolder(path: folder / "protection")
        identities = try VaultIdentities.generate()
        try protection.setUp(keeping: identities, by: .keyring)
        vault = Vault(protection)
        inbox = try FileInbox(
            path: folder / "Inbox", reserve: .bytes(0), keys: ItemKeys(vault), opening: .inOneCall, placement: placement
        )
    }

    func unlock() throws { try vault.unlock(identities) }

    func lock() { vault.lock(all: true) }

    /// The next receiver, which has no keys in memory.
    func restart() throws {
        lock()
        inbox.forgetKeptKeys()
        // The lock of the Inbox goes with the old one.
        inbox = try FileInbox(path: folder / "other", reserve: .bytes(0))
        inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0), keys: ItemKeys(vault))
    }

    func key(_ name: String, kind: ItemKind = .file, _ protection: ProtectionClass = .unlessOpen) throws -> PartialKey {
        let item = OfferedItem(kind: kind, name: safe(name), type: uniform("public.data"), size: 1_000_000)
        return try #require(PartialKey(item, from: .sample(1), protection: protection))
    }

    func stage(
        _ name: String = "a", kind: ItemKind = .file, _ protection: ProtectionClass = .unlessOpen
    ) throws -> any StagedItem {
        try inbox.stage(
            transfer: TransferID(), item: 0, isTree: kind == .tree, partial: try key(name, kind: kind, protection),
            protection: protection)
    }

    func kept(_ name: String = "a", kind: ItemKind = .file) throws -> [KeptFile] {
        var files: [KeptFile] = []
        inbox.readKept(try key(name, kind: kind), .xxh3_128) {
            files.append($0)
            return true
        }
        return files
    }

    /// Stores a staged item, and returns its arrival as the journal records it.
    func store(
        _ staged: any StagedItem, as name: String, kind: ItemKind = .file, of contents: Digest, size: Int,
        _ protection: ProtectionClass = .unlessOpen
    ) throws -> Arrival {
        let digests = try staged.sealedDigests(of: ContentDigests(lasting: contents, sent: contents))
        let stored = try inbox.store(staged, as: name)
        let facts = ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: kind, name: safe(name), type: uniform("public.data"), size: UInt64(size)),
            size: UInt64(size),
            digest: digests?.stored ?? contents, sealedContents: digests?.contents, peer: .sample(1),
            senderName: "study", annotation: [:],
            destination: Destination(handler: nil, folder: nil, protection: protection), dialect: .keyed)
        return Arrival(number: ArrivalNumber(1), facts: facts, stored: stored)
    }

    /// A file that was received whole.
    func receive(_ bytes: [UInt8], as name: String, _ protection: ProtectionClass = .unlessOpen) throws -> Arrival {
        let staged = try stage(name, protection)
        try staged.beginFile(try entry(nil, size: UInt64(bytes.count)))
        try staged.write(bytes)
        try staged.endFile()
        return try store(staged, as: name, of: .of(.lasting, bytes), size: bytes.count, protection)
    }

    /// The contents of a sealed file, by the keys that are in memory.
    func opened(_ path: String) throws -> [UInt8] {
        let file = try SealedFile.open(FileDescriptor.opening(path, O_RDONLY), FileKeys(vault))
        return try file.bytes(at: 0, count: Int(file.size))
    }
}

/// Bytes in which no part is like another one.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
}
