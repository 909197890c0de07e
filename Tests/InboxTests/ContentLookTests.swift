import ContentCheck
import Executors
import Glibc
import Sharing
import Synchronization
import TestSupport
import Testing
import UniformTypes

@testable import Inbox

@Suite("What the contents of an item are")
struct ContentLookTests {
    private let folder = TemporaryFolder()
    private let script = "#!/bin/sh\necho hello\n"
    private let jpeg = ContentClaim(kind: .file, type: .jpeg)

    private func inbox() throws -> FileInbox {
        try FileInbox(path: folder / "Inbox", reserve: .bytes(0), checker: ContentChecker(database: .none))
    }

    @Test("is found to be the same by who asks and by the thread that looks ahead", arguments: [true, false])
    func sameVerdict(waits: Bool) throws {
        let inbox = try inbox()
        let plain = try inbox.stagedFile(script, executable: true)
        let expected = try #require(try plain.contentVerdict(on: jpeg))
        #expect(expected.outcome == .lying)
        let expecting = try inbox.stagedFile(script, executable: true)
        expecting.expectContentVerdict(on: jpeg)
        if waits { ContentLook.thread.drain() }
        #expect(try expecting.contentVerdict(on: jpeg) == expected)
        for (item, name) in [(plain, "a.jpg"), (expecting, "b.jpg")] {
            try inbox.store(item, as: name)
            #expect(try #require(mode(of: folder / "Inbox/\(name)")) & 0o111 == 0)
            #expect(ContentMark.read(folder / "Inbox/\(name)")?.hasPrefix("lying") == true)
        }
    }

    @Test("is found out once, whoever comes first, and everybody is told")
    func once() {
        for _ in 0..<200 {
            let look = ContentLook()
            let count = Mutex(0)
            let verdict = ContentVerdict(.unverified, nil, "found")
            let find: @Sendable () -> ContentLook.Found = {
                count.withLock { $0 += 1 }
                return .success(verdict)
            }
            ContentLook.thread.enqueue { look.run(find) }
            #expect(look.result(find) == .success(verdict))
            #expect(look.result(find) == .success(verdict))
            #expect(count.withLock { $0 } == 1)
        }
        ContentLook.thread.drain()
    }

    @Test("is not looked into once the item is discarded, and whatever has its name then is left alone")
    func discarded() throws {
        let inbox = try inbox()
        let gate = Gate()
        let blocked = Mutex(false)
        // The thread is busy with something else until the item is gone.
        ContentLook.thread.enqueue {
            while !gate.isOpen { usleep(1_000) }
            blocked.withLock { $0 = true }
        }
        let item = try inbox.stagedFile(script, executable: true)
        item.expectContentVerdict(on: jpeg)
        item.discard()
        gate.open()
        ContentLook.thread.drain()
        #expect(blocked.withLock { $0 })
        #expect(throws: TransferFault.self) { try item.contentVerdict(on: jpeg) }
        try inbox.store(try inbox.stagedFile("text"), as: "a.txt")
        #expect(ContentMark.read(folder / "Inbox/a.txt") == nil)
    }
}
