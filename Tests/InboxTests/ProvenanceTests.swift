import CLinuxShims
import ContentCheck
import Digests
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Inbox

@Suite("Provenance")
struct ProvenanceTests {
    private let folder = TemporaryFolder()

    private func facts(_ kind: ItemKind, sender: String = "study") throws -> ArrivalFacts {
        ArrivalFacts(
            transfer: TransferID(), itemNumber: 0, itemsInOffer: 1,
            item: OfferedItem(kind: kind, name: try name("a.txt"), type: .plainText, size: nil), size: 4,
            digest: .of(.xxh3_128, Array("text".utf8)), peer: .sample(1), senderName: sender, annotation: [:])
    }

    private func attribute(_ name: String, _ path: String) -> String? {
        ExtendedAttributes.read(name, of: path).map { String(decoding: $0, as: UTF8.self) }
    }

    private func check(_ path: String, _ facts: ArrivalFacts) throws {
        #expect(attribute(Provenance.peer, path) == facts.peer.provenText)
        #expect(attribute(Provenance.via, path) == facts.dialect.name)
        #expect(attribute(Provenance.sender, path) == facts.senderName)
        #expect(attribute(Provenance.type, path) == facts.type.identifier)
        #expect(attribute(Provenance.digest, path) == facts.digest.description)
        #expect(attribute(Provenance.transfer, path) == facts.transfer.text)
        let received = try #require(attribute(Provenance.received, path))
        let time = try Date(received, strategy: .iso8601)
        #expect(abs(time.timeIntervalSinceNow) < 3_600)
    }

    @Test("stands on a file, which is read-only all the same")
    func file() throws {
        let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0))
        let facts = try facts(.file, sender: "Küche")
        let staged = try inbox.stagedFile("text")
        try staged.label(facts)
        try inbox.store(staged, as: "a.txt")
        try check(folder / "Inbox/a.txt", facts)
        #expect(mode(of: folder / "Inbox/a.txt") == 0o444 & ~currentUmask)
    }

    @Test("names the dialect, and no key where none was proved")
    func unproven() throws {
        let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0))
        var facts = try facts(.file)
        (facts.peer, facts.dialect) = (.unproven(.keyless), .keyless)
        let staged = try inbox.stagedFile("text")
        try staged.label(facts)
        try inbox.store(staged, as: "a.txt")
        try check(folder / "Inbox/a.txt", facts)
        #expect(attribute(Provenance.peer, folder / "Inbox/a.txt") == nil)
    }

    @Test("stands on a tree's own folder alone")
    func tree() throws {
        let inbox = try FileInbox(path: folder / "Inbox", reserve: .bytes(0))
        let facts = try facts(.tree)
        let staged = try inbox.stagedTree()
        try staged.add(try entry("content"), "text")
        try staged.label(facts)
        try inbox.store(staged, as: "tree")
        try check(folder / "Inbox/tree", facts)
        #expect(attribute(Provenance.peer, folder / "Inbox/tree/content") == nil)
    }

    @Test("is set by an owner who is not root, beside the mark of a liar")
    func ordinaryUser() throws {
        try #require(geteuid() == 0, "as root only: another user is needed")
        chmod(folder.path, 0o777)
        try asOrdinaryUser { try labelAsOwner() }
    }

    private func labelAsOwner() throws {
        let path = folder / "file"
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o444)
        try #require(file >= 0)
        defer { close(file) }
        #expect(CLinuxShims_set_attribute(file, Provenance.peer, "x", 1) == -1, "the kernel says no to that")
        let facts = try facts(.file)
        ExtendedAttributes.set(Provenance.attributes(facts, at: time(nil)), on: file)
        ContentMark.set(ContentVerdict(.lying, nil, "it is a program"), on: file)
        try check(path, facts)
        #expect(attribute(Provenance.content, path) == "lying: it is a program")
        #expect(mode(of: path) == 0o444 & ~currentUmask)
    }

    @Test("that no file system keeps is no fault")
    func noAttributes() throws {
        // Files of the kernel have no extended attributes.
        let file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        ExtendedAttributes.set(Provenance.attributes(try facts(.file), at: 0), on: file)
        #expect(attribute(Provenance.peer, "/proc/self/comm") == nil)
    }

    @Test("has times in UTC, to the second")
    func times() throws {
        let attributes = Provenance.attributes(try facts(.file), at: 1_795_253_400)
        let received = attributes.first { $0.name == Provenance.received }
        #expect(received?.value == Array("2026-11-21T09:30:00Z".utf8))
        #expect(Set(attributes.map(\.name)).isSubset(of: Provenance.all))
    }
}
