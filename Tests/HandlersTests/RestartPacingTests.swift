import Sharing
import Testing

@testable import Handlers

@Suite("A resident handler's words and waits")
struct RestartPacingTests {
    @Test("a handler that fails is left alone longer each time, up to a limit, until it answers")
    func pacing() {
        var pacing = RestartPacing(first: .seconds(1), longest: .seconds(10))
        let now = ContinuousClock.now
        #expect(!pacing.isWaiting(at: now))
        for wait in [1, 2, 4, 8, 10, 10] {
            pacing.failed(at: now)
            #expect(pacing.notBefore == now + .seconds(wait))
            #expect(pacing.isWaiting(at: now + .seconds(wait) - .nanoseconds(1)))
            #expect(!pacing.isWaiting(at: now + .seconds(wait)))
        }
        pacing.answered()
        #expect(pacing.notBefore == nil)
        pacing.failed(at: now)
        #expect(pacing.notBefore == now + .seconds(1))
    }

    @Test("an answer is read with its reason, which is made one line")
    func answers() throws {
        let seven = ArrivalNumber(7)
        #expect(try ResidentAnswer(Array(#"{"answer":"yes"}"#.utf8), to: seven).answer == .yes)
        let full = #" {"answer":"failed","number":7,"reason":"a\nb\u001b","more":[1]} "#
        let answer = try ResidentAnswer(Array(full.utf8), to: seven)
        #expect(answer.answer == .failed)
        #expect(answer.reason == "a\\nb\\u{1B}")
    }

    @Test(
        "a line that is no answer is refused with a reason",
        arguments: [
            ("", "not valid JSON"), ("yes", "not valid JSON: yes"), ("{}", "not valid JSON"),
            (#"{"answer":"maybe"}"#, "neither yes, no, later nor failed: maybe"),
            (#"{"answer":"yes","number":8}"#, "for 8, which is not its question"),
            (#"{"answer":"yes","number":1e99}"#, "not valid JSON"), (#"{"answer":true}"#, "not valid JSON"),
            ("\u{1b}[2J\u{202e}", "not valid JSON: \\u{1B}[2J\\u{202E}"),
            (String(repeating: "[", count: 60_000), "not valid JSON: [["),
        ])
    func refused(line: String, reason: String) {
        #expect {
            try ResidentAnswer(Array(line.utf8), to: ArrivalNumber(7))
        } throws: { error in
            (error as? ResidentAnswer.FormatError)?.reason.contains(reason) == true
        }
    }

    @Test("lines are found wherever they are cut, and a too long one is reported once")
    func lines() {
        let text = Array("ab\n\ncdefgh\nij\nkl".utf8)
        for piece in 1...text.count {
            var splitter = LineSplitter()
            var found: [String?] = []
            for start in stride(from: 0, to: text.count, by: piece) {
                text[start..<min(start + piece, text.count)].withUnsafeBytes { bytes in
                    splitter.take(bytes, limit: 4) { line in
                        found.append(line.map { String(decoding: $0, as: UTF8.self) })
                    }
                }
            }
            #expect(found == ["ab", "", nil, "ij"])
        }
    }
}
