import Contacts
import Digests
import Endpoints
import Foundation
import Logging
import Operations
import Receiving
import Sending
import Settings
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import CommandLine

@Suite("The log of waftd")
struct LogLinesTests {
    private let time = WallTime(milliseconds: 1_795_248_000_000)

    @Test("a line begins with time, level and program, then the event, and the facts come last")
    func file() {
        let line = LogLineForm.file.line(
            .notice, "stored", ["number": "3", "name": "from pipe \"1\".txt", "contact": "anna"], label: "waftd",
            at: time)
        #expect(
            line == "2026-11-21T08:00:00Z notice waftd: stored contact=anna name=\"from pipe \\\"1\\\".txt\" number=3")
    }

    @Test("in systemd's journal a line has its level as a number, and no second time")
    func journal() {
        #expect(LogLineForm.journal.line(.warning, "no room", [:], label: "waftd", at: time) == "<4>no room")
        #expect(LogLineForm.journal.line(.info, "x", ["a": ""], label: "waftd", at: time) == "<6>x a=\"\"")
        #expect(LogLineForm.journal.text(.error, "waft: a\n  b") == "<3>waft: a\n<3>  b")
        #expect(LogLineForm.file.text(.error, "waft: a\n  b") == "waft: a\n  b")
        #expect(LogLineForm.ofStandardError(["JOURNAL_STREAM": "1:1"]) == .file)
        #expect(LogLineForm.ofStandardError([:]) == .file)
    }

    @Test("a person at a terminal reads a sentence")
    func person() {
        let facts: Logger.Metadata = ["reason": "no bus", "see": "waft status"]
        let line = LogLineForm.person.line(.warning, "the lock cannot be watched", facts, label: "waft", at: time)
        #expect(line == "waft: warning: the lock cannot be watched: no bus (see waft status)")
        #expect(LogLineForm.person.line(.info, "a\nb", [:], label: "waft", at: time) == "waft: a\\nb")
    }

    @Test("a time is a number of seconds, or has a unit")
    func seconds() {
        for (text, duration) in [("1", 1.0), ("0.5", 0.5), ("1s", 1), ("2m", 120)] as [(String, Double)] {
            #expect(Seconds(argument: text)?.duration == .milliseconds(Int64(duration * 1_000)))
        }
        for text in ["", "0", "-1", "x", "1y", "nan", "inf", "366d", "1e99"] { #expect(Seconds(argument: text) == nil) }
    }

    @Test("no value begins a line or is obeyed by a terminal")
    func hostile() {
        let line = LogLineForm.file.line(.error, "a\nb", ["x": "c\u{1B}[2J\nd"], label: "waftd", at: time)
        #expect(line.hasSuffix("waftd: a\\nb x=c\\u{1B}[2J\\nd"))
    }

    /// Keeps the logged lines.
    private final class Kept: Sendable {
        let lines = Mutex<[String]>([])

        var logger: Logger {
            Logger(label: "test") { _ in Handler(kept: self) }
        }

        struct Handler: LogHandler {
            let kept: Kept
            var logLevel = Logger.Level.notice
            var metadata: Logger.Metadata = [:]

            subscript(metadataKey key: String) -> Logger.Metadata.Value? {
                get { metadata[key] }
                set { metadata[key] = newValue }
            }

            func log(event: LogEvent) {
                let line = LogLineForm.journal.line(
                    event.level, "\(event.message)", event.metadata ?? [:], label: "", at: WallTime(milliseconds: 0))
                kept.lines.withLock { $0.append(line) }
            }
        }
    }

    @Test("declined, stored and opened items are in the log, with the user's name of the contact")
    func events() throws {
        let folder = TemporaryFolder()
        let book = try ContactBook.withAnna(folder)
        let offer = Offer.sample()
        let arrival = Arrival(
            number: ArrivalNumber(12),
            facts: ArrivalFacts(
                transfer: offer.transfer, itemNumber: 0, itemsInOffer: 1, item: offer.items[0], size: 5,
                digest: .of(.xxh3_128, Array("hello".utf8)), peer: .sample(1), senderName: "study", annotation: [:]),
            stored: StoredItem(name: try SafeName("a.pdf"), path: "/in/a.pdf"))
        let kept = Kept()
        for event in [
            ReceiverEvent.reception(
                .judged(offer, Verdict(all: .no, count: 1, digest: .xxh3_128), from: .sample(1))),
            .reception(.judged(offer, Verdict(all: .privateRule, count: 1, digest: .xxh3_128), from: .sample(1))),
            .reception(.stored([arrival])), .reception(.opened(arrival, HandlerAnswer(.yes, exitCode: 0))),
        ] {
            event.news(book) { ReceiverLog.write($0, contactCount: 1, to: kept.logger) }
        }
        let lines = kept.lines.withLock { $0 }
        #expect(lines.count == 4)
        #expect(
            zip(lines, ["<5>declined ", "<5>declined ", "<5>stored ", "<5>opened "]).allSatisfy { $0.hasPrefix($1) },
            "\(lines)")
        #expect(lines.allSatisfy { $0.contains(" contact=anna ") }, "\(lines)")
        #expect(lines[0].contains("the user said no") && lines[1].contains("a rule says no"), "\(lines)")
    }
}
