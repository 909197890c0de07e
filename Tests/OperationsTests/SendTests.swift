import ContentCheck
import Control
import Digests
import Endpoints
import Foundation
import ItemSources
import Lines
import Sending
import Sharing
import TestSupport
import Testing
import UniformTypes

@testable import Operations

private func line(
    _ result: SendResult.Item, by dialect: Dialect = .keyed, isAwaited: Bool = false
) -> SentLine {
    var offer = Offer.sample()
    offer.dialect = dialect
    return SentLine(result, 0, of: offer, to: "study", peer: nil, isAwaited: isAwaited)
}

private func stored(
    _ state: HandlerAnswer.State = .pending, exitCode: Int? = nil, isAlready: Bool = false, isAgain: Bool = false
) -> SendResult.Item {
    var receipt = ItemReceipt(
        .stored(name: "a-1", size: 1_300, digest: .of(.xxh3_128, Array("a".utf8))),
        handler: HandlerAnswer(state, exitCode: exitCode), isAlready: isAlready)
    receipt.isAgain = isAgain
    return .acknowledged(receipt, sent: nil)
}

@Suite("The end of a sending as lines")
struct SentLineTests {
    @Test("every verdict has its exit code")
    func verdicts() {
        let codes = ItemVerdict.Answer.allCases.map { WaftExit($0) }
        #expect(codes == [.done, .declined, .ineligible, .noRoom, .noAnswer, .noAnswer])
    }

    @Test("an item that is stored with other contents than were sent is exit code 17")
    func wrongDigest() {
        for code in [TransferError.Code.digestMismatch, .sizeMismatch] {
            let line = line(.lost(TransferError(code, "the receipt is not believed")))
            #expect(line.event == "failed" && line.exit == .contentChanged)
            #expect(line.reason == "the receipt is not believed" && line.text == line.reason)
        }
    }

    @Test(
        "where the handler's answer is waited for it decides, with a sentence; elsewhere it does not",
        arguments: [
            (.yes, nil, "stored as a-1, 1.3 kB, opened"),
            (.none, .handlerSaidNo, "stored as a-1, 1.3 kB, but no handler was asked"),
            (.no, .handlerSaidNo, "stored as a-1, 1.3 kB, but the handler said no (exit code 3)"),
            (.later, .handlerSaidNo, "stored as a-1, 1.3 kB, but the handler will be asked again later (exit code 3)"),
            (.failed, .handlerSaidNo, "stored as a-1, 1.3 kB, but the handler failed (exit code 3)"),
            (.pending, .handlerSaidNo, "stored as a-1, 1.3 kB, but the handler has not answered in time"),
        ] as [(HandlerAnswer.State, WaftExit?, String)])
    func handlers(state: HandlerAnswer.State, exit: WaftExit?, text: String) {
        let awaited = line(stored(state, exitCode: 3), isAwaited: true)
        #expect(awaited.exit == exit && awaited.text == text)
        #expect(awaited.event == (exit == nil ? "opened" : "stored"))
        #expect(awaited.reason == (exit == nil ? nil : text))
        let other = line(stored(state, exitCode: 3))
        #expect(other.exit == nil && other.event == "stored" && other.reason == nil)
        #expect(other.handlerAnswer == state.rawValue && other.exitCode == 3)
    }

    @Test("an item that was there already is said to be, and an answer of before does not count for this call")
    func already() {
        let there = line(stored(.yes, isAlready: true), isAwaited: true)
        #expect(there.exit == .handlerSaidNo && there.alreadyThere == true && there.sentAgain == nil)
        #expect(there.text == "already there as a-1, 1.3 kB, but no handler was asked again")
        let again = line(stored(.yes, isAlready: true, isAgain: true), isAwaited: true)
        #expect(again.event == "opened" && again.sentAgain == true)
        #expect(again.text == "already there as a-1, 1.3 kB, sent again, opened")
    }

    @Test("without receipts the other side says that it has the item, and nobody says where")
    func withoutReceipts() {
        let sent = line(stored(.none), by: .keyless)
        #expect(sent.event == "sent" && sent.size == 1_300 && sent.stored == nil && sent.exit == nil)
        #expect(sent.text == "sent as a-1, 1.3 kB; the other side says it has it")
    }

    @Test("a document for programs has no field that is for the words only")
    func unsaid() {
        for json in [line(stored()).json, line(.notAccepted(ItemVerdict(.declined, reason: "no"))).json] {
            #expect(!json.contains("\"text\"") && !json.contains("\"outcome\""))
        }
        #expect(line(stored()).json.contains("\"event\":\"stored\""))
    }
}

@Suite("Sending as an operation", .timeLimit(.minutes(1)))
struct SendTests {
    private let kitchen: Kitchen

    init() throws { kitchen = try Kitchen(jobs: 0) }

    private func file(_ name: String = "a.txt") throws -> String {
        let path = kitchen.folder / name
        try "hello".write(toFile: path, atomically: false, encoding: .utf8)
        return path
    }

    @Test("a peer that cannot be reached is one failed step with its exit code, for each peer")
    func unreachable() async throws {
        let sources = try SendSources(paths: [file()]).make()
        // No program listens on port 1.
        let peers = ["127.0.0.1:1", "127.0.0.2:1"]
        let failed = Recorder<String>()
        var options = SendOptions()
        options.finding = .seconds(1)
        options.retryFor = .zero
        let exit = try await kitchen.waft.send(sources, to: peers, options, cancellation: Cancellation()) {
            step, peer in
            if case .failed(let line, _) = step { failed.record("\(peer) \(line.exit)") }
        }
        #expect(exit == .unreachable)
        #expect(Set(failed.all) == ["127.0.0.1:1 unreachable", "127.0.0.2:1 unreachable"])
    }

    @Test("one peer is named by a text, and a text that names none is refused before anything is looked for")
    func named() async throws {
        let sources = try SendSources(paths: [file()]).make()
        let lines = Recorder<String>()
        func send(to peer: String) async throws(WaftError) -> WaftExit {
            var options = try kitchen.waft.sendOptions(subject: "a word")
            (options.finding, options.retryFor) = (.seconds(1), .zero)
            return try await kitchen.waft.send(
                sources, to: [peer], options, cancellation: Cancellation()
            ) { step, _ in
                for line in step.lines { lines.record(line.json) }
            }
        }
        let exit = try await send(to: "127.0.0.1:1")
        #expect(exit == .unreachable)
        #expect(lines.all.last?.contains(#""event":"failed""#) == true)
        #expect(lines.all.last?.contains(#""to":"127.0.0.1:1""#) == true)
        do throws(WaftError) {
            _ = try await send(to: "study:0")
            Issue.record("study:0 is an address")
        } catch {
            #expect(error.code == .usage)
        }
        do throws(WaftError) {
            _ = try kitchen.waft.sendOptions(subject: "two\nlines")
            Issue.record("two lines are a subject")
        } catch {
            #expect(error.code == .usage)
        }
    }

    @Test("each step of a sending has the lines that every face shows, and a connection has none")
    func steps() {
        let offer = Offer.sample()
        let events: [(SendEvent, String?)] = [
            (.connected(.sample(1), name: "study"), nil), (.settled, nil), (.remarked("no links"), "remark"),
            (.offered(offer), "offered"), (.answered(Verdict(items: [.accepted])), "answered"),
            (.busy("", .receiverStopped), "busy"), (.progressed(1, of: 2, moved: 1), "progress"),
            (.resuming("the cable is out"), "resuming"), (.handling, "handling"),
        ]
        for (event, name) in events {
            #expect(SendStep(event, to: "study", kitchen.waft.people).lines.first?.event == name)
        }
        #expect(SendStep.ended([line(stored()), line(stored())]).lines.count == 2)
        let failed = SendStep(SendError(.noAnswer, "nobody", advice: ["look", "again"]), .noAnswer, to: "study")
        #expect((failed.lines.first as? FailedLine)?.hint == "look; again")
    }

    @Test("what is left to the daemon becomes a job for each peer, by its path or as a copy")
    func queue() async throws {
        let path = try file()
        let sources = try SendSources(paths: [path], texts: ["hi"]).make()
        for isSnapshot in [false, true] {
            let items = QueuedItems(
                sources, paths: [path], texts: ["hi"], urls: [], isSnapshot: isSnapshot, days: 2)
            let lines = try await kitchen.waft.outbox.add(
                items, to: ["study", "192.0.2.7"], SendOptions(), cancellation: Cancellation())
            #expect(lines.map(\.to) == ["study", "192.0.2.7"])
            #expect(lines.allSatisfy { $0.count == 2 && $0.size == 7 && !$0.daemon && $0.contact == nil })
            let job = try await kitchen.waft.outbox.show(lines[0].job)
            #expect(job.items.map(\.source) == [isSnapshot ? "copy" : "path", "text"])
            #expect(job.items[0].path == (isSnapshot ? nil : path))
        }
    }

    @Test("a job wakes the receiver that runs")
    func wakes() async throws {
        let sources = try SendSources(paths: [], texts: ["hi"]).make()
        let items = QueuedItems(sources, paths: [], texts: ["hi"], urls: [], isSnapshot: false, days: nil)
        let (asked, outbox) = (Recorder<ControlRequest>(), kitchen.waft.outbox)
        try await kitchen.withReceiver { request in
            asked.record(request)
            return .done
        } _: {
            let lines = try await outbox.add(items, to: ["study"], SendOptions(), cancellation: Cancellation())
            #expect(lines.first?.daemon == true)
        }
        #expect(asked.all == [.outbox(.lookAgain)])
    }

    @Test("a cancelled copy makes no job, and a wrong address is said before anything is copied")
    func refusals() async throws {
        let sources = try SendSources(paths: [], texts: ["hi"]).make()
        let items = QueuedItems(sources, paths: [], texts: ["hi"], urls: [], isSnapshot: false, days: nil)
        let cancellation = Cancellation()
        cancellation.request()
        for (peer, cancellation, code) in [
            ("study", cancellation, WaftExit.interrupted), ("study:0", Cancellation(), .usage),
        ] {
            do throws(WaftError) {
                _ = try await kitchen.waft.outbox.add(
                    items, to: [peer], SendOptions(), cancellation: cancellation)
                Issue.record("\(peer) was queued")
            } catch {
                #expect(error.code == code, "\(error.reason)")
            }
        }
        let left = try await kitchen.waft.outbox.list(all: true).jobs
        #expect(left.isEmpty)
    }
}
