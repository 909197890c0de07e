import Digests
import Foundation
import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("Sealed items that were interrupted")
struct SealedResumeTests {
    private let bytes = noise(400_000)

    /// Receives the first part of a file, and breaks off.
    private func cut(_ place: SealedInbox, after count: Int) throws {
        let staged = try place.stage()
        try staged.beginFile(try entry(nil, size: 400_000))
        try staged.write(Array(bytes[..<count]))
        staged.keep()
    }

    /// Goes on from an offset, and stores the file.
    private func goOn(_ place: SealedInbox, from offset: Int, with rest: [UInt8]? = nil) throws -> Arrival {
        let staged = try place.stage()
        var file = try entry(nil, size: 400_000)
        file.offset = UInt64(offset)
        var found: [UInt8] = []
        try staged.resumeFile(file) { found += Array($0) }
        #expect(found == Array(bytes[..<offset]))
        try staged.write(rest ?? Array(bytes[offset...]))
        try staged.endFile()
        let whole = found + (rest ?? Array(bytes[offset...]))
        return try place.store(staged, as: "a", of: .of(.xxh3_128, whole), size: whole.count)
    }

    private func header(_ path: String) -> [UInt8] { Array((contents(of: path) ?? []).prefix(300)) }

    private func partial(_ place: SealedInbox) throws -> String {
        place.staging + "/" + (try #require(listing(of: place.staging).first { $0.hasPrefix("p-") }))
    }

    @Test("a file goes on where it was cut, without any key of the vault")
    func whileLocked() throws {
        let place = try SealedInbox()
        try cut(place, after: 300_000)
        #expect(place.inbox.hasKept(try place.key("a")))
        // The last bytes had no whole chunk yet.
        #expect(try place.kept().map(\.size) == [4 * 65_536])
        let before = header(try partial(place))
        let arrival = try goOn(place, from: 4 * 65_536)
        #expect(header(arrival.stored.path) == before)
        try place.unlock()
        #expect(try place.opened(arrival.stored.path) == bytes)
        #expect(try InboxVerification.verify(arrival, arrived: now(), inbox: place.path).state == .ok)
    }

    @Test("a file that goes on before its end is sealed anew: no chunk number is used twice under one key")
    func anew() throws {
        let place = try SealedInbox()
        try cut(place, after: 300_000)
        let before = try #require(contents(of: try partial(place)))
        let other = noise(400_000 - 100_000, seed: 9)
        let arrival = try goOn(place, from: 100_000, with: other)
        let after = try #require(contents(of: arrival.stored.path))
        #expect(before.prefix(300) != after.prefix(300))
        // Under one key the difference of two sealed chunks would be that of their contents.
        let start = after.count - 400_000 - 7 * 16
        let sealed = zip(before[(start + 65_552)...], after[(start + 65_552)...]).map { $0 ^ $1 }
        let open = zip(bytes[65_536...], (Array(bytes[..<100_000]) + other)[65_536...]).map { $0 ^ $1 }
        #expect(sealed.prefix(60_000) != open.prefix(60_000))
        try place.unlock()
        #expect(try place.opened(arrival.stored.path) == Array(bytes[..<100_000]) + other)
    }

    @Test("after a restart a part is left alone while locked, and goes on under another key after the unlock")
    func afterRestart() throws {
        let place = try SealedInbox()
        try cut(place, after: 300_000)
        let before = header(try partial(place))
        try place.restart()
        #expect(!place.inbox.hasKept(try place.key("a")))
        #expect(try place.kept() == [])
        try place.unlock()
        #expect(place.inbox.hasKept(try place.key("a")))
        #expect(try place.kept().map(\.size) == [4 * 65_536])
        let arrival = try goOn(place, from: 4 * 65_536)
        #expect(header(arrival.stored.path) != before)
        #expect(try place.opened(arrival.stored.path) == bytes)
        #expect(listing(of: place.staging) == ["lock"])
    }

    @Test("after a restart the file can begin anew while locked")
    func beginsAnew() throws {
        let place = try SealedInbox()
        try cut(place, after: 300_000)
        try place.restart()
        let arrival = try place.receive(bytes, as: "a")
        try place.unlock()
        #expect(try place.opened(arrival.stored.path) == bytes)
        #expect(listing(of: place.staging) == ["lock"])
    }

    @Test("a part of another protection is not continued")
    func otherProtection() throws {
        let place = try SealedInbox()
        try cut(place, after: 300_000)
        #expect(!place.inbox.hasKept(try place.key("a", .untilFirstUnlock)))
        #expect(!place.inbox.hasKept(try place.key("a", .none)))
    }

    @Test("the files of a tree that are whole stay as they are")
    func treeFiles() throws {
        let place = try SealedInbox()
        let first = try place.stage("t", kind: .tree)
        for path in ["a", "b"] {
            try first.beginFile(try entry(path, size: 100_000))
            try first.write(Array(bytes[..<100_000]))
            if path == "a" { try first.endFile() }
        }
        first.keep()
        try place.unlock()
        #expect(try place.kept("t", kind: .tree).map(\.size).sorted() == [65_536, 100_000])
        let again = try place.stage("t", kind: .tree)
        let before = header(try partial(place) + "/a.age")
        for (path, offset) in [("a", 100_000), ("b", 65_536)] {
            var file = try entry(path, size: 100_000)
            file.offset = UInt64(offset)
            try again.resumeFile(file) { _ in }
            try again.write(Array(bytes[offset..<100_000]))
            try again.endFile()
        }
        try again.removeLeftovers()
        var listed = TreeListing(.xxh3_128)
        for path in ["a", "b"] {
            listed.file(try SafeRelativePath(path), executable: false, digest: .of(.xxh3_128, bytes[..<100_000]))
        }
        let digest = listed.finalize()
        let arrival = try place.store(again, as: "t", kind: .tree, of: digest, size: 200_000)
        #expect(header(arrival.stored.path + "/a.age") == before)
        #expect(try place.inbox.digest(of: arrival, .xxh3_128) == digest)
        #expect(everything(below: arrival.stored.path) == ["a.age", "b.age"])
    }

    @Test("a plain canary is in no file while an item arrives, is cut, goes on and is stored")
    func canary() throws {
        let place = try SealedInbox()
        let canary = Array("the canary sings 0123456789 in the mine of the sixty-four bytes.".utf8)
        let contents = Array(repeating: canary, count: 4_000).flatMap(\.self)
        func isClean() -> Bool {
            everything(below: place.folder.path).allSatisfy { name in
                guard let bytes = fileContents(place.folder / name) else { return true }
                return Data(bytes).range(of: Data(canary)) == nil
            }
        }
        let staged = try place.stage()
        try staged.beginFile(try entry(nil, size: UInt64(contents.count)))
        try staged.write(Array(contents[..<200_000]))
        #expect(isClean())
        staged.keep()
        #expect(isClean())
        let again = try place.stage()
        var file = try entry(nil, size: UInt64(contents.count))
        file.offset = 131_072
        try again.resumeFile(file) { _ in }
        try again.write(Array(contents[131_072...]))
        #expect(isClean())
        try again.endFile()
        _ = try place.store(again, as: "a", of: .of(.xxh3_128, contents), size: contents.count)
        #expect(isClean())
    }
}

/// The contents of a file, whatever a local name hides.
private func fileContents(_ path: String) -> [UInt8]? { contents(of: path) }
