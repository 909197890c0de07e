import ArgumentParser
import Control
import Foundation
import Lines
import Operations
import Outbox
import Sharing
import Testing
import UniformTypes

@testable import CommandLine

@Suite("The outbox in words")
struct OutboxTextTests {
    private func record(
        items: Int = 1, name: String = "a.txt", to destination: String = "kitchen",
        _ body: (inout JobStatus) -> Void = { _ in }
    ) throws -> OutboxStore.Record {
        let offered = OfferedItem(kind: .file, name: try SafeName(name), type: .utf8PlainText, size: 5)
        let item = OutboxItem(offered, origin: "/tmp/a.txt", content: .path("/tmp/a.txt"))
        let job = OutboxJob(
            number: JobNumber(12), queued: WallTime(milliseconds: 0), expires: WallTime(milliseconds: 1_000),
            destination: .init(text: destination), items: Array(repeating: item, count: items))
        var standing = JobStatus(job)
        body(&standing)
        return OutboxStore.Record(job: job, standing: standing)
    }

    private func line(
        _ record: OutboxStore.Record, moved: (UInt64, UInt64?)? = nil, hasReceiver: Bool = true
    ) -> String {
        JobLine(record, person: KnownPeers.nobody.person, moved: moved, hasReceiver: hasReceiver).words[0]
    }

    @Test("a line says what goes where, and how that stands")
    func line() throws {
        #expect(line(try record()) == "  12  a.txt → kitchen (5 bytes): waits")
        let sent = try record(items: 4) { $0.state = .done }
        #expect(line(sent) == "  12  a.txt, a.txt and 2 more → kitchen (20 bytes): sent")
        let failed = try record {
            $0.state = .failed
            $0.failure = OutboxJobError(.declined, "declined: no", isFinal: true)
        }
        #expect(
            line(failed)
                == "  12  a.txt → kitchen (5 bytes): given up: declined: no; again: waft outbox retry 12")
        #expect(
            QueuedLine(job: 12, to: "kitchen", count: 1, size: 5, daemon: true).words == [
                "queued as 12 → kitchen: 1 item, 5 bytes"
            ])
    }

    @Test("a job in progress shows its progress, and a stopped job shows that no process sends it")
    func progress() throws {
        let record = try record { $0.state = .sending }
        let half = (UInt64(1_000), UInt64?(2_000))
        #expect(line(record, moved: half).hasSuffix(": is being sent, 50 %: 1.0 kB of 2.0 kB"))
        let piped = (UInt64(1_000), Optional<UInt64>.none)
        #expect(line(record, moved: piped).hasSuffix(": is being sent, 1.0 kB so far"))
        #expect(line(record).hasSuffix(": is being sent"))
        #expect(
            line(record, hasReceiver: false).contains(
                "interrupted when the receiver ended"))
        #expect(JobLine(record, person: KnownPeers.nobody.person, moved: half).json.contains("\"bytes\":1000"))
        let waits = try self.record()
        #expect(line(waits, moved: half).hasSuffix(": waits"))
    }

    @Test("nothing foreign moves the cursor")
    func escaped() throws {
        let record = try record(to: "kit\u{1B}[2Jchen") {
            $0.state = .failed
            $0.failure = OutboxJobError(.unreachable, "bad\u{1B}[31m\nnews", isFinal: true)
            $0.peer = PeerID(fingerprint: Array(repeating: 1, count: 32))
            $0.peerName = "\u{202E}evil"
            $0.outcomes = [0: SettledItem(OutboxJobError(.unreachable, "x\u{7}", isFinal: true))]
        }
        let job = JobLine(record, person: KnownPeers.nobody.person)
        for text in job.details + job.words {
            #expect(!text.unicodeScalars.contains { $0.value < 32 || $0 == "\u{202E}" }, "\(text)")
        }
    }

    @Test("the document for programs has the state, the exit code and the result of each item")
    func document() throws {
        let record = try record(items: 2) {
            $0.state = .failed
            $0.failure = OutboxJobError(.changed, "changed", isFinal: true)
            $0.outcomes = [
                0: SettledItem(
                    stored: "a-1.txt", size: 5, digest: "xxh3-128:00", handler: HandlerAnswer(.yes, exitCode: 0))
            ]
        }
        let line = JobLine(record, person: KnownPeers.nobody.person).json
        let document = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(document["job"] as? Int == 12)
        #expect(document["state"] as? String == "failed")
        #expect(document["exit"] as? Int == 17)
        #expect(document["due"] == nil)
        let items = try #require(document["items"] as? [[String: Any]])
        #expect(items[0]["stored"] as? String == "a-1.txt")
        #expect(items[0]["handlerAnswer"] as? String == "yes")
        #expect(items[1]["stored"] == nil)
        #expect(items[1]["path"] as? String == "/tmp/a.txt")
    }

    @Test("every reason has the exit code that waft send would have had")
    func exits() {
        let exits = OutboxJobError.Code.allCases.map { WaftExit($0).rawValue }
        #expect(exits == [10, 11, 12, 13, 14, 15, 16, 17, 66, 15, 1])
    }

    @Test("the words of --queue: its options go with it alone, and --expires takes a number of days")
    func words() throws {
        let words = SendWords(["a.txt", "--queue", "--expires", "3", "--to", "kitchen", "b.txt"])
        #expect(words.items == ["a.txt", "b.txt"])
        let parsed = try #require(try WaftCommand.parseAsRoot(["send"] + words.options) as? SendCommand)
        #expect(parsed.queue.queue)
        #expect(parsed.queue.expires == 3)
        for wrong in [["--snapshot"], ["--expires", "3"], ["--queue", "--expires", "0"]] {
            #expect(throws: (any Error).self) { try WaftCommand.parseAsRoot(["send", "--to", "kitchen"] + wrong) }
        }
    }
}
