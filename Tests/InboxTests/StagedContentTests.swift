import ContentCheck
import Glibc
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Inbox

@Suite("The contents of a staged item")
struct StagedContentTests {
    private let folder = TemporaryFolder()
    private let script = "#!/bin/sh\necho hello\n"
    private let jpeg = ContentClaim(kind: .file, type: .jpeg)

    private func inbox() throws -> FileInbox {
        try FileInbox(path: folder / "Inbox", reserve: .bytes(0), checker: ContentChecker(database: .none))
    }

    @Test("are marked, and no longer executable, if they are not of the declared type")
    func liar() throws {
        let inbox = try inbox()
        let item = try inbox.stagedFile(script, executable: true)
        #expect(try item.contentVerdict(on: jpeg)?.outcome == .lying)
        try inbox.store(item, as: "a.jpg")
        #expect(try #require(mode(of: folder / "Inbox/a.jpg")) & 0o111 == 0)
        #expect(ContentMark.read(folder / "Inbox/a.jpg")?.hasPrefix("lying") == true)
    }

    @Test("are not checked once the item is discarded, and the next item with its name has no mark")
    func discarded() throws {
        let inbox = try inbox()
        let item = try inbox.stagedFile(script, executable: true)
        item.discard()
        #expect(throws: TransferError.self) { try item.contentVerdict(on: jpeg) }
        try inbox.store(try inbox.stagedFile("text"), as: "a.txt")
        #expect(ContentMark.read(folder / "Inbox/a.txt") == nil)
    }
}
