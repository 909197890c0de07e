import Digests
import Foundation
import HTTPChannel
import Sharing
import TestSupport
import Testing

@testable import LocalSendDialect

@Suite("Sending by LocalSend", .timeLimit(.minutes(1)))
struct SendingTests {
    @Test("files, an empty one and one of several pieces arrive as they are, with their times")
    func files() async throws {
        try await LocalSendLoopback.run { receiver in
            let large = (0..<1_300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let time = Timestamp(seconds: 1_777_629_600, nanoseconds: 250_000_000)
            let sender = receiver.sender
            let ends = try await sender.send([
                .file("a.txt", Array("hello".utf8), modified: time), .file("empty", []), .file("Übung 👋.bin", large),
            ])
            #expect(ends == ["stored a.txt 5", "stored empty 0", "stored Übung 👋.bin 1300000"])
            #expect(
                receiver.inbox["a.txt"]?.entries[""] == .file(Array("hello".utf8), executable: false, modified: time))
            #expect(receiver.inbox["empty"]?.bytes == [])
            #expect(receiver.inbox["Übung 👋.bin"]?.bytes == large)
            let shown = sender.progress.all
            #expect(shown == shown.sorted())
            #expect(shown.last == 1_300_005)
            #expect(sender.answers.all.map(\.acceptsAnything) == [true])
        }
    }

    @Test("a folder arrives with its files, and the digest is that of the folder as it arrived")
    func tree() async throws {
        try await LocalSendLoopback.run { receiver in
            let source = MemorySource.tree(
                "trip",
                [
                    .folder("day", [.file("a", [1]), .folder("none", [])]), .file("b", [2, 3], executable: true),
                    .link("c", to: "b"),
                ])
            let result = try await receiver.sender.run([source])
            guard case .ended(let items, let moved) = result, case .acknowledged(let receipt, _)? = items.items.first,
                case .stored("trip", 3, let digest) = receipt.outcome
            else {
                Issue.record("\(result)")
                return
            }
            #expect(moved == 3)
            var listing = TreeListing(.xxh3_128)
            listing.folder(try SafeRelativePath("day"))
            listing.file(try SafeRelativePath("day/a"), executable: false, digest: .of(.xxh3_128, [1]))
            listing.file(try SafeRelativePath("b"), executable: false, digest: .of(.xxh3_128, [2, 3]))
            let expected = listing.finalize()
            #expect(digest == expected)
            let tree = try #require(receiver.inbox["trip"])
            #expect(tree.entries["day/a"]?.bytes == [1])
            #expect(tree.entries["b"]?.bytes == [2, 3])
        }
    }

    @Test("links, empty folders and modes are named before they are lost, and a folder without files is refused")
    func remarks() throws {
        let sender = LocalSendSender(port: 1)
        let plan = try sender.plan([
            .tree("trip", [.folder("x", [.folder("y", [])]), .file("a", [1], executable: true), .link("c", to: "a")]),
            .tree("plain", [.file("a", [1])]),
        ])
        #expect(
            plan.remarks == [
                "memory:trip has 1 link, 2 empty folders and executable modes of 1 file, which LocalSend does not carry"
            ])
        #expect(plan.files.map(\.announced.fileName) == ["trip/a", "plain/a"])
        #expect(plan.files.map(\.announced.id) == ["f0", "f1"])
        #expect(throws: TransferError.self) { _ = try sender.plan([.tree("none", [.folder("x", [])])]) }
        #expect(throws: TransferError.self) { _ = try sender.plan([.file("pipe", [1], sizeIsKnown: false)]) }
    }

    @Test("items of the same name get names of their own")
    func names() throws {
        let plan = try LocalSendSender(port: 1).plan([
            .file("a.txt", [1]), .tree("a.txt", [.file("b", [1])]), .file("a.txt", [2]),
        ])
        #expect(plan.files.map(\.announced.fileName) == ["a.txt", "a-1.txt/b", "a-2.txt"])
    }

    @Test("a text alone is a message, which arrives with the question")
    func message() async throws {
        try await LocalSendLoopback.run { receiver in
            let ends = try await receiver.sender.send([.text("back at six 👋", name: "note.txt")])
            #expect(ends == ["stored note.txt 16"])
            #expect(receiver.inbox.names == ["back at six 👋.txt"])
        }
    }

    @Test("a URL alone is a message with the URL, and beside others a text file")
    func link() async throws {
        let link = MemorySource.file(
            "example.com.url", Array("[InternetShortcut]\r\nURL=https://example.com/a\r\n".utf8), kind: .url,
            type: "public.url")
        try await LocalSendLoopback.run { receiver in
            let ends = try await receiver.sender.send([link])
            #expect(ends == ["stored example.com.url 21"])
            #expect(receiver.inbox.names == ["example.com.url"])
        }
        try await LocalSendLoopback.run { receiver in
            let ends = try await receiver.sender.send([link, .text("hello")])
            #expect(ends == ["stored example.com.txt 21", "stored text.txt 5"])
            #expect(receiver.inbox["example.com.txt"]?.bytes == Array("https://example.com/a".utf8))
        }
    }

    @Test("a receiver that wants a message as a file gets it, and a long text is a file from the beginning")
    func messageAsFile() async throws {
        let device = ScriptedDevice { request in
            request.path.hasPrefix("prepare-upload") ? ScriptedDevice.accepting("f0") : (200, request.body)
        }
        try await device.run { sender in
            let ends = try await sender.send([.text("hello", name: "note.txt")])
            #expect(ends == ["stored note.txt 5"])
            let long = try sender.plan([.text(String(repeating: "x", count: 70_000), name: "long.txt")])
            #expect(!long.isMessage)
            #expect(long.files.map(\.announced.preview) == [nil])
        }
        #expect(device.asked.all == ["prepare-upload", "upload?sessionId=s%2F1&fileId=f0&token=t%26f0"])
    }

    @Test("a no is told with its reason, and nothing is sent")
    func declined() async throws {
        try await LocalSendLoopback.run(.decline) { receiver in
            let ends = try await receiver.sender.send([.file("a", [1]), .file("b", [2])])
            #expect(ends == ["declined: no", "declined: no"])
            #expect(receiver.inbox.names == [])
        }
    }

    @Test("204 is a success for a message only")
    func nothingWanted() async throws {
        let device = ScriptedDevice { _ in (204, "") }
        try await device.run { sender in
            let file = try await sender.send([.file("a", [1])])
            #expect(file == ["declined: nothing of it is wanted"])
            let text = try await sender.send([.text("hello")])
            #expect(text == ["stored text.txt 5"])
        }
        #expect(device.asked.all == ["prepare-upload", "prepare-upload"])
    }

    @Test("the PIN is sent as it is; without it, with a wrong one and after too many the refusals differ")
    func pin() async throws {
        try await LocalSendLoopback.run(from: .stranger, pin: "4 7&1") { receiver in
            var sender = receiver.sender
            var ends = try await sender.send([.file("a", [1])])
            #expect(ends == ["401 PIN required"])
            sender.pin = "4 7&1"
            ends = try await sender.send([.file("a", [1])])
            #expect(ends == ["stored a 1"])
            sender.pin = "1"
            for _ in 0..<3 {
                ends = try await sender.send([.file("a", [1])])
                #expect(ends == ["401 Invalid PIN"])
            }
            ends = try await sender.send([.file("a", [1])])
            #expect(ends.first?.hasPrefix("429") == true)
        }
    }

    @Test("a busy receiver is recognised, and takes the same items later")
    func busy() async throws {
        let device = ScriptedDevice { request in
            switch request.path {
            case "prepare-upload" where request.repetitions == 0: (409, #"{"message":"Blocked by another session"}"#)
            case "prepare-upload": ScriptedDevice.accepting("f0")
            default: (200, "")
            }
        }
        try await device.run { sender in
            guard case .refused(let refusal) = try await sender.run([.file("a", [1])]) else {
                Issue.record("it was not busy")
                return
            }
            #expect(refusal.isBusy)
            #expect(refusal.message == "Blocked by another session")
            let ends = try await sender.send([.file("a", [1])])
            #expect(ends == ["stored a 1"])
        }
    }

    @Test("a file that arrived wrong is sent three times at most, and then the session is cancelled")
    func mismatch() async throws {
        for (times, end) in [(2, "stored a 1"), (9, "lost (digestMismatch): the other side says: Checksum mismatch")] {
            let device = ScriptedDevice { request in
                if request.path == "prepare-upload" { return ScriptedDevice.accepting("f0") }
                return request.path.hasPrefix("upload") && request.repetitions < times
                    ? (422, #"{"message":"Checksum mismatch"}"#) : (200, "")
            }
            let ends = try await device.run { try await $0.send([.file("a", [1])]) }
            #expect(ends == [end])
            let rest = times == 2 ? [] : ["cancel?sessionId=s%2F1"]
            #expect(device.asked.all.filter { !$0.hasPrefix("upload") } == ["prepare-upload"] + rest)
            #expect(device.asked.count == 4 + rest.count)
        }
    }

    @Test("a file whose connection breaks is sent again, and one that fails does not hold up the others")
    func breaks() async throws {
        let device = ScriptedDevice { request in
            if request.path == "prepare-upload" { return ScriptedDevice.accepting("f0", "f1", "f2") }
            if request.path.contains("fileId=f0"), request.repetitions == 0 { return (0, "") }
            return request.path.contains("fileId=f1") ? (500, #"{"detail":"the disk\nis broken"}"#) : (200, "")
        }
        let ends = try await device.run { try await $0.send([.file("a", [1]), .file("b", [1]), .file("c", [1])]) }
        #expect(ends == ["stored a 1", "lost (storage): the other side says: the disk is broken", "stored c 1"])
        #expect(device.asked.all.last == "cancel?sessionId=s%2F1")
        #expect(device.asked.all.count { $0.contains("fileId=f0") } == 2)
    }

    @Test(
        "without progress a broken connection is final after the time for it, and a session that is gone ends it at once"
    )
    func givingUp() async throws {
        let broken = ScriptedDevice { request in
            request.path == "prepare-upload" ? ScriptedDevice.accepting("f0") : (0, "")
        }
        let lost = try await broken.run { sender in
            var sender = sender
            sender.times.retryFor = .milliseconds(300)
            return try await sender.send([.file("a", [1])])
        }
        #expect(lost.first?.hasPrefix("lost (interrupted): the connection was lost") == true)
        let gone = ScriptedDevice { request in
            request.path == "prepare-upload"
                ? ScriptedDevice.accepting("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9") : (403, "")
        }
        let ends = try await gone.run { try await $0.send((0..<10).map { .file("\($0)", [1]) }) }
        #expect(ends.allSatisfy { $0.hasPrefix("lost (notAccepted)") }, "\(ends)")
        #expect(gone.asked.all.count { $0.hasPrefix("upload") } < 7)
    }

    @Test("a file that is on its way when its session proves to be gone ends with its own answer")
    func goneOnTheWay() async throws {
        let others = Recorder<Void>()
        let device = ScriptedDevice { request in
            if request.path == "prepare-upload" { return ScriptedDevice.accepting("f0", "f1", "f2", "f3", "f4", "f5") }
            if request.path.contains("fileId=f1&") {
                // Until the session has proved to be gone, and a little longer.
                while others.count < 4 { usleep(1_000) }
                usleep(200_000)
                return (200, "")
            }
            others.record(())
            return (403, "")
        }
        let ends = try await device.run { try await $0.send((0..<6).map { .file("\($0)", [1]) }) }
        #expect(ends[1] == "stored 1 1", "\(ends)")
        #expect(ends.count { $0.hasPrefix("lost (notAccepted)") } == 5, "\(ends)")
    }

    @Test("a source that has changed is not sent to its end, and the session is cancelled")
    func changed() async throws {
        try await LocalSendLoopback.run { receiver in
            for source in [
                MemorySource.file("a", [1, 2, 3], claimed: 4), .file("b", [1, 2, 3], claimed: 2),
                .file("c", [1, 2, 3], fault: .after(3)),
            ] {
                let ends = try await receiver.sender.send([source])
                #expect(ends.first?.hasPrefix("unread: ") == true)
            }
            #expect(receiver.inbox.names == [])
            #expect(receiver.inbox.stagedCount == 0)
        }
    }

    @Test("what is not wanted is not sent: nothing at all, or with --partial the rest")
    func partial() async throws {
        let sources = [MemorySource.file("a", [1]), .file("b", [2]), .tree("t", [.file("x", [1]), .file("y", [2])])]
        let device = ScriptedDevice { request in
            request.path == "prepare-upload" ? ScriptedDevice.accepting("f0", "f2", "f7", "x") : (200, "")
        }
        try await device.run { sender in
            var sender = sender
            var ends = try await sender.send(sources)
            let words = ItemVerdict.leftOut.reason
            #expect(
                ends == [
                    "declined: \(words)", "declined: it is not wanted",
                    "declined: only 1 of its 2 files are wanted; --partial sends them",
                ])
            #expect(device.asked.all == ["prepare-upload", "cancel?sessionId=s%2F1"])
            sender.takesPart = true
            ends = try await sender.send(sources)
            #expect(
                ends == [
                    "stored a 1", "declined: it is not wanted",
                    "lost (notAccepted): the other side wanted only 1 of its 2 files",
                ])
        }
        #expect(device.asked.all.count { $0.hasPrefix("upload") } == 2)
        #expect(device.asked.all.count { $0.hasPrefix("cancel") } == 1)
    }

    @Test("a cancelled sending ends the session, or withdraws the question")
    func cancelled() async throws {
        try await LocalSendLoopback.run { receiver in
            var sender = receiver.sender
            sender.most = 4 << 20
            let sending = sender
            let large = [UInt8](repeating: 7, count: 64 << 20)
            await #expect(throws: CancellationError.self) {
                _ = try await sending.send([.file("small", [1]), .file("large", large)])
            }
            #expect(!receiver.inbox.names.contains("large"))
            #expect(receiver.inbox.stagedCount == 0)
        }
        try await LocalSendLoopback.run(.never) { receiver in
            let sender = receiver.sender
            let sending = Task { try await sender.send([.file("a", [1])]) }
            _ = try await receiver.consent.asked.first()
            sending.cancel()
            await #expect(throws: CancellationError.self) { _ = try await sending.value }
            _ = try await receiver.consent.withdrawn.first()
        }
    }

    @Test("nobody's answer in time withdraws the question")
    func unanswered() async throws {
        try await LocalSendLoopback.run(.never) { receiver in
            var sender = receiver.sender
            sender.times.answer = .seconds(1)
            let waiting = sender
            await #expect(throws: HTTPError.silence) { _ = try await waiting.send([.file("a", [1])]) }
            _ = try await receiver.consent.withdrawn.first()
        }
    }
}
