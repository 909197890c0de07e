import Endpoints
import Lines
import Receiving
import Sending
import Settings
import Sharing
import Testing

@testable import CommandLine

@Suite("Words for the end of a transfer")
struct EndingWordsTests {
    @Test("a cancelled sending says how far it was, and whether the same command resumes it")
    func cancelled() {
        var end = SendCancellation()
        #expect(end.text == "cancelled; nothing was sent")
        (end.bytes, end.total) = (30_400_000, 60_000_000)
        #expect(end.text == "cancelled at 30.4 of 60.0 MB; run the same command to resume")
        end.bytes = 304_000
        #expect(end.text == "cancelled at 304.0 kB of 60.0 MB; run the same command to resume")
        end.again = .begins
        #expect(end.text.hasSuffix("; run the same command to send it again from the beginning"))
        (end.total, end.again) = (nil, .needsInput)
        #expect(
            end.text
                == "cancelled at 304.0 kB; standard input cannot be read again: run the whole pipeline again")
        end.isStored = true
        #expect(end.text == "everything is stored; the answers of handlers were not waited for")
    }

    @Test("an unanswered offer is reported once, with the time, and the peer's reason does not stand alone")
    func expired() {
        let usual = ItemVerdict(.expired, reason: EndCause.nobodyAnswered(within: .milliseconds(59_001)))
        #expect(OutcomeWords.line(usual) == "nobody answered within 60 s")
        #expect(OutcomeWords.line(ItemVerdict(.expired)) == "nobody answered in time")
        #expect(OutcomeWords.line(ItemVerdict(.expired, reason: "stored")) == "no answer: stored")
        #expect(OutcomeWords.line(ItemVerdict(.noRoom, reason: "full\u{1B}")) == "no room: full\u{1B}")
    }

    @Test(
        "an offer that ended before an answer is reported with its cause, and the same words cannot stand for another",
        arguments: EndCause.allCases)
    func unanswered(_ cause: EndCause) {
        #expect(OutcomeWords.line(.unanswered(cause)) == cause.words)
        #expect(OutcomeWords.line(ItemVerdict(.expired, cause: cause)) == cause.words)
        let other: EndCause = cause == .fault ? .rule : .fault
        if cause != .timeout {
            let wrong = ItemVerdict(.expired, reason: cause.words, cause: other)
            #expect(OutcomeWords.line(wrong) == "no answer: \(cause.words)")
        }
    }

    @Test("a resumed transfer prints once how much the receiver has already")
    func resumed() {
        #expect(
            ResumeWords.line(bytes: 35_100_000, of: 62_900_000, moved: 100_000)
                == "resuming: 35.0 MB of 62.9 MB are there already")
        #expect(ResumeWords.line(bytes: 100, of: 200, moved: 100) == nil)
        #expect(ResumeWords.line(bytes: 200, of: 200, moved: 0) == nil)
    }

    @Test("an answer to an offer is one line, with the items and the folder")
    func answered() {
        #expect(AcceptedLine(offer: 1).words == ["offer 1 accepted"])
        #expect(AcceptedLine(offer: 1, folder: "From/Study").words == ["offer 1 accepted, into From/Study"])
        #expect(AcceptedLine(offer: 2, items: [0, 2]).words == ["offer 2 accepted, only items 1, 3"])
        #expect(AcceptedLine(offer: 2, items: Array(0..<99)).words[0].hasSuffix(", 10, …"))
        #expect(DeclinedLine(offer: 3, blocked: false).words == ["offer 3 declined"])
        #expect(DeclinedLine(offer: 3, blocked: true).words == ["offer 3 declined, and its sender is blocked"])
    }

    @Test("after accepting, the first of the items that are already there are named")
    func present() {
        let item = AcceptedLine.Present(name: "no\u{1B}tes", arrival: 12, stored: "notes-1")
        #expect(
            AcceptedLine(offer: 1, present: [item]).presentWords == [
                "no\\u{1B}tes: already there as notes-1, and stays there unless it has changed; to move it: "
                    + "waft inbox take 12 FOLDER"
            ])
        let many = AcceptedLine(offer: 1, present: Array(repeating: item, count: 15)).presentWords
        #expect(many.count == 11 && many.last == "and 5 more that are already there")
    }
}
