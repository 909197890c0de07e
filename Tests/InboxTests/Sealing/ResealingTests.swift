import Digests
import Foundation
import Glibc
import Sharing
import SystemCalls
import TestSupport
import Testing

@testable import Inbox

@Suite("Changing how an item is sealed")
struct ResealingTests {
    private static let files = [
        "a": "first", "a.age": "not sealed", "a-b": "between", "deep/er/x.sh": "#!/bin/sh", "empty": "",
        "Übung/größe 中.txt": String(repeating: "long ", count: 30_000),
    ]
    private static let sealedNames = [
        "a-b.age", "a.age", "a.age.age", "deep", "deep/er", "deep/er/x.sh.age", "empty.age", "link", "none", "Übung",
        "Übung/größe 中.txt.age",
    ].sorted()
    private static let old = Timestamp(seconds: 1_000_000_000, nanoseconds: 5)

    /// The arrival in its new form, as the journal has it.
    private func changed(_ arrival: Arrival, _ change: Resealing, _ stored: StoredItem) -> Arrival {
        var changed = arrival
        changed.stored = stored
        changed.facts.digest = change.digest
        changed.facts.sentDigest = change.sentDigest
        changed.facts.sealedContents = change.sealedContents
        changed.facts.destination = Destination(handler: nil, folder: nil, protection: change.protection)
        return changed
    }

    private func reseal(
        _ place: SealedInbox, _ arrival: Arrival, as protection: ProtectionClass
    ) throws -> Arrival {
        let (change, stored) = try place.inbox.reseal(arrival, as: protection) { _ in }
        #expect(change.protection == protection && listing(of: place.staging) == ["lock"])
        #expect(try place.inbox.find([change.identity], in: [])[change.identity]?.path == stored.path)
        let changed = changed(arrival, change, stored)
        let finding = try InboxVerification.verify(
            changed, arrived: now(), inbox: place.path, keys: FileKeys(place.vault))
        #expect(finding == ItemFinding(state: .ok))
        let digest = ExtendedAttributes.read(Provenance.digest, of: stored.path)
        #expect(digest == Array(change.digest.description.utf8))
        let label = ExtendedAttributes.read(Provenance.protection, of: stored.path)
        #expect(label == (protection.isSealed ? Array(protection.rawValue.utf8) : nil))
        return changed
    }

    /// A tree that arrived in clear, with an empty folder, and dates of its own.
    private func tree(_ place: SealedInbox) throws -> Arrival {
        var arrival = try place.inbox.receiveTree(Self.files, as: "photos")
        let path = arrival.stored.path
        try #require(mkdir(path + "/none", 0o755) == 0)
        arrival.facts.digest = try digest(of: "photos", in: place)
        for name in everything(below: path).reversed() + [""] {
            let times = [timespec(), timespec(tv_sec: Int(Self.old.seconds), tv_nsec: Int(Self.old.nanoseconds))]
            try #require(utimensat(AT_FDCWD, path + "/" + name, times, AT_SYMLINK_NOFOLLOW) == 0)
        }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        ExtendedAttributes.set([(name: Provenance.sender, value: Array("study".utf8))], on: file)
        return arrival
    }

    private func digest(of name: String, in place: SealedInbox, keys: FileKeys? = nil) throws -> Digest {
        let folder = open(place.path, O_RDONLY | O_CLOEXEC)
        defer { close(folder) }
        return try StoredDigest.read(name, in: folder, isTree: true, algorithm: .lasting, keys: keys).digest
    }

    /// Modes and times of everything below a folder but its links, without the endings of sealed files.
    private func facts(below path: String) -> [String] {
        (everything(below: path) + [""]).compactMap { name in
            guard let status = lstatus(of: path + "/" + name), status.st_mode & S_IFMT != S_IFLNK else { return nil }
            return "\(status.st_mode) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        }.sorted()
    }

    @Test("a file is sealed in each class and opened again, with its date and its mode", arguments: [0, 5, 200_000])
    func file(size: Int) throws {
        let place = try SealedInbox()
        try place.unlock()
        let text = String(repeating: "x", count: size)
        var arrival = try place.inbox.receive(text, as: "run.sh", executable: true)
        let before = try #require(lstatus(of: arrival.stored.path))
        for protection in [ProtectionClass.unlessOpen, .complete, .untilFirstUnlock, .none] {
            arrival = try reseal(place, arrival, as: protection)
            let name = protection.isSealed ? "run.sh.age" : "run.sh"
            #expect(listing(of: place.path) == [name] && arrival.stored.name.text == "run.sh")
            let after = try #require(lstatus(of: arrival.stored.path))
            #expect(after.st_mode == before.st_mode && after.st_mtim.tv_sec == before.st_mtim.tv_sec)
            if protection.isSealed { #expect(try place.opened(arrival.stored.path) == Array(text.utf8)) }
        }
        #expect(contents(of: arrival.stored.path) == Array(text.utf8))
    }

    @Test("a folder is sealed in each class and opened again: names, links, dates, modes and attributes stay")
    func folder() throws {
        let place = try SealedInbox()
        try place.unlock()
        var arrival = try tree(place)
        let (path, digest, facts) = (arrival.stored.path, arrival.digest, facts(below: arrival.stored.path))
        let names = everything(below: path)
        for protection in [ProtectionClass.unlessOpen, .complete, .untilFirstUnlock] {
            arrival = try reseal(place, arrival, as: protection)
            #expect(listing(of: place.path) == ["photos"] && arrival.stored.path == path)
            #expect(everything(below: path) == Self.sealedNames && self.facts(below: path) == facts)
            #expect(place.inbox.contentDigests(of: arrival) == ContentDigests(lasting: digest, sent: digest))
            #expect(try place.opened(path + "/a.age") == Array("first".utf8))
            #expect(ExtendedAttributes.read(Provenance.sender, of: path) == Array("study".utf8))
        }
        arrival = try reseal(place, arrival, as: .none)
        #expect(everything(below: path) == names && self.facts(below: path) == facts && arrival.digest == digest)
        for (name, text) in Self.files { #expect(contents(of: path + "/" + name) == Array(text.utf8)) }
    }

    @Test("the digest that the sender of a folder knows stays, in whichever order it was sent")
    func sentDigest() throws {
        let place = try SealedInbox()
        try place.unlock()
        let sent = Digest.of(.xxh3_128, [1])
        var arrival = try tree(place)
        let lasting = arrival.digest
        arrival.facts.sentDigest = sent
        arrival = try reseal(place, arrival, as: .unlessOpen)
        #expect(place.inbox.contentDigests(of: arrival) == ContentDigests(lasting: lasting, sent: sent))
        arrival = try reseal(place, arrival, as: .none)
        #expect(arrival.digest == lasting && arrival.sentDigest == sent)
    }

    @Test("a folder that arrived sealed in another order than that of its names is opened if it is as it arrived")
    func anotherOrder() throws {
        let place = try SealedInbox()
        let staged = try place.stage("photos", kind: .tree)
        for path in ["b", "a"] { try staged.add(try entry(path, size: 1), path) }
        let sent = Digest.of(.xxh3_128, [1])
        let digests = try #require(try staged.sealedDigests(of: ContentDigests(lasting: nil, sent: sent)))
        var arrival = try place.store(staged, as: "photos", kind: .tree, of: sent, size: 2)
        (arrival.facts.digest, arrival.facts.sealedContents) = (digests.stored, digests.contents)
        try place.unlock()
        var other = arrival
        other.facts.digest = sent
        #expect(fault { _ = try place.inbox.reseal(other, as: .none) { _ in } } == .different)
        arrival = try reseal(place, arrival, as: .none)
        #expect(arrival.sentDigest == sent && everything(below: arrival.stored.path) == ["a", "b"])
    }

    @Test("a folder with a file and a folder that would have one name is refused in one line, and stays")
    func sameNames() throws {
        let place = try SealedInbox()
        try place.unlock()
        let arrival = try place.inbox.receiveTree(["a": "x", "a.age/b": "y"], as: "photos")
        let error = #expect(throws: LeavingError.self) {
            _ = try place.inbox.reseal(arrival, as: .complete) { _ in }
        }
        #expect(error?.code == .nameTaken)
        #expect(error?.message.contains("a.age: sealed files get the ending .age, and that name is taken") == true)
        #expect(everything(below: arrival.stored.path) == ["a", "a.age", "a.age/b", "link"])
        #expect(listing(of: place.staging) == ["lock"])
    }

    @Test("a folder that was changed since it arrived, or is changed meanwhile, stays as it is")
    func changedFolder() throws {
        let place = try SealedInbox()
        try place.unlock()
        let arrival = try tree(place)
        let path = arrival.stored.path
        let old = try FolderEntry(path, inbox: place.path)
        let staged = try #require(try place.stage("copy", kind: .tree) as? StagedFiles)
        let copy = try ResealedCopy(of: old, keys: nil, in: staged, .xxh3_128)
        try copy.check(old)
        makeFile(path + "/new")
        #expect(throws: StoredDigestError.self) { try copy.check(old) }
        staged.discard()
        #expect(fault { _ = try place.inbox.reseal(arrival, as: .complete) { _ in } } == .different)
        unlink(path + "/new")
        try rot(path + "/a", at: 1)
        #expect(fault { _ = try place.inbox.reseal(arrival, as: .complete) { _ in } } == .different)
        #expect(listing(of: place.staging) == ["lock"] && everything(below: path).contains("a-b"))
    }

    @Test("a file that is changed meanwhile stays as it is")
    func changedFile() throws {
        let place = try SealedInbox()
        try place.unlock()
        let arrival = try place.inbox.receive("first", as: "a")
        let old = try FolderEntry(arrival.stored.path, inbox: place.path)
        let staged = try #require(try place.stage("copy") as? StagedFiles)
        let copy = try ResealedCopy(of: old, keys: nil, in: staged, .xxh3_128)
        try copy.check(old)
        chmod(arrival.stored.path, 0o644)
        makeFile(arrival.stored.path, "second")
        #expect(throws: StoredDigestError.self) { try copy.check(old) }
        staged.discard()
    }

    @Test("a file that has got the number of a new form that is gone is not taken for it")
    func anotherFile() throws {
        let place = try SealedInbox()
        try place.unlock()
        let arrival = try place.inbox.receive("mine", as: "a")
        var change: Resealing?
        #expect(throws: LeavingError.self) {
            _ = try place.inbox.reseal(arrival, as: .unlessOpen) { recorded throws(TransferError) in
                change = recorded
                throw TransferError(.storage, "the journal is full")
            }
        }
        makeFile(place.path + "/a-1.age", "another")
        let other = try FolderEntry(place.path + "/a-1.age", inbox: place.path)
        var recorded = try #require(change)
        recorded.identity = try FileIdentity.of(other.name, in: other.folder.raw)
        let mine = try FolderEntry(arrival.stored.path, inbox: place.path)
        let old = try FileIdentity.of(mine.name, in: mine.folder.raw)
        #expect(try place.inbox.finish(recorded, of: arrival, old: old) == nil)
        #expect(listing(of: place.path) == ["a", "a-1.age"])
    }

    @Test("locked, nothing is changed", arguments: [ItemKind.file, .tree])
    func locked(kind: ItemKind) throws {
        let place = try SealedInbox()
        let arrival = kind == .tree ? try tree(place) : try place.inbox.receive("x", as: "a")
        #expect(fault { _ = try place.inbox.reseal(arrival, as: .unlessOpen) { _ in } } == .locked)
    }

    @Test(
        "a change that cannot be recorded is none, and one that was not made is dropped",
        arguments: [ItemKind.file, .tree])
    func unrecorded(kind: ItemKind) throws {
        let place = try SealedInbox()
        try place.unlock()
        let arrival = kind == .tree ? try tree(place) : try place.inbox.receive("x", as: "a")
        var change: Resealing?
        #expect(throws: LeavingError.self) {
            _ = try place.inbox.reseal(arrival, as: .unlessOpen) { recorded throws(TransferError) in
                change = recorded
                throw TransferError(.storage, "the journal is full")
            }
        }
        #expect(listing(of: place.staging) == ["lock"])
        #expect(try InboxVerification.verify(arrival, arrived: now(), inbox: place.path).state == .ok)
        #expect(try place.inbox.finish(try #require(change), of: arrival, old: nil) == nil)
    }

    @Test("a change that was made is found again", arguments: [ItemKind.file, .tree])
    func found(kind: ItemKind) throws {
        let place = try SealedInbox()
        try place.unlock()
        // A name that ends as those of sealed files do.
        let arrival = kind == .tree ? try tree(place) : try place.inbox.receive("x", as: "a.age")
        let before = try FolderEntry(arrival.stored.path, inbox: place.path)
        let old = try FileIdentity.of(before.name, in: before.folder.raw)
        let (change, stored) = try place.inbox.reseal(arrival, as: .unlessOpen) { _ in }
        #expect(try place.inbox.finish(change, of: arrival, old: old) == stored)
        #expect(listing(of: place.path).count == 1)
    }

    @Test("where folders cannot be exchanged, the new one comes beside the old one, which is removed then")
    func beside() throws {
        let place = try SealedInbox(placement: .byLink)
        try place.unlock()
        let arrival = try reseal(place, try tree(place), as: .unlessOpen)
        #expect(arrival.stored.name.text == "photos-1" && listing(of: place.path) == ["photos-1"])
        #expect(everything(below: arrival.stored.path) == Self.sealedNames)
    }

    @Test("an old folder that a killed receiver has left beside the new one is removed, and nothing else in its place")
    func leftBeside() throws {
        let place = try SealedInbox(placement: .byLink)
        try place.unlock()
        let arrival = try tree(place)
        let (change, stored) = try place.inbox.reseal(arrival, as: .unlessOpen) { _ in }
        makeTree(arrival.stored.path)
        let left = try FolderEntry(arrival.stored.path, inbox: place.path)
        let identity = try FileIdentity.of(left.name, in: left.folder.raw)
        let other = FileIdentity(device: identity.device, inode: identity.inode + 1)
        #expect(try place.inbox.finish(change, of: arrival, old: other) == stored)
        #expect(listing(of: place.path) == ["photos", "photos-1"])
        #expect(try place.inbox.finish(change, of: arrival, old: identity) == stored)
        #expect(listing(of: place.path) == ["photos-1"])
    }

    private func makeTree(_ path: String) {
        mkdir(path, 0o755)
        mkdir(path + "/b", 0o755)
        makeFile(path + "/b/c")
    }

    private func fault(_ body: () throws -> Void) -> LeavingError.Code? {
        do { try body() } catch { return (error as? LeavingError)?.code }
        return nil
    }
}
