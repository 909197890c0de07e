import Foundation
import Glibc
import Sharing
import TestSupport
import Testing

@testable import Inbox

@Suite("The listing of an Inbox")
struct InboxListingTests {
    private let folder = TemporaryFolder()

    @Test("lists its items with kind, size and time, in order, and follows no link")
    func everyKind() throws {
        let inbox = try FileInbox(path: folder / "Inbox")
        let time = Timestamp(seconds: 1_000, nanoseconds: 7)
        try inbox.store(try inbox.stagedFile("12345", modified: time), as: "file")
        let tree = try inbox.stagedTree()
        try tree.closeFolder(nil, modified: time)
        try inbox.store(tree, as: "a folder")
        symlink("/etc/passwd", folder / "Inbox/link")
        mkfifo(folder / "Inbox/pipe", 0o600)
        makeFile(folder / "Inbox/.hidden")
        let entries = try InboxListing.entries(at: folder / "Inbox")
        #expect(entries.map(\.name) == [".hidden", "a folder", "file", "link", "pipe"])
        #expect(entries.map(\.kind) == [.file, .folder, .file, .link, .other])
        #expect(entries.map(\.size) == [0, nil, 5, nil, nil])
        #expect(entries[1].modified == time)
        #expect(entries[2].modified == time)
        #expect(entries[2].path == folder / "Inbox/file")
    }

    @Test("needs no receiver and is not in the way of one")
    func withoutLock() throws {
        let inbox = try FileInbox(path: folder / "Inbox")
        #expect(try InboxListing.entries(at: folder / "Inbox").isEmpty)
        withExtendedLifetime(inbox) {}
    }

    @Test("of an Inbox that is not there yet is empty, and makes none")
    func missing() throws {
        #expect(try InboxListing.entries(at: folder / "Inbox").isEmpty)
        #expect(listing(of: folder.path).isEmpty)
    }

    @Test("of a file is refused")
    func file() {
        makeFile(folder / "Inbox")
        #expect(throws: InboxError.self) { try InboxListing.entries(at: folder / "Inbox") }
    }

    @Test("shows names that are not UTF-8 as well as it can")
    func strangeNames() throws {
        mkdir(folder / "Inbox", 0o700)
        let name = Array((folder / "Inbox/a").utf8) + [0xFF, 0]
        name.withUnsafeBytes { bytes in
            _ = close(
                open(bytes.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped, O_CREAT | O_WRONLY, 0o600)
            )
        }
        #expect(try InboxListing.entries(at: folder / "Inbox").map(\.name) == ["a\u{FFFD}"])
    }
}
