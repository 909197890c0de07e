import Testing

@testable import Desktop

@Suite("Text of notifications")
struct NotificationTextTests {
    @Test(
        "invisible characters, and those that move a cursor or change the direction, are written as numbers",
        arguments: [
            ("plain é 日本", "plain é 日本"), ("a\nb\tc\rd", "a\\nb\\tc\\rd"), ("\u{1B}[2J", "\\u{1B}[2J"),
            ("\u{202E}gpj", "\\u{202E}gpj"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("a\u{200B}b", "a\\u{200B}b"),
            ("\0", "\\u{0}"), ("\u{2028}", "\\u{2028}"), ("\u{E000}", "\\u{E000}"), ("\r\n", "\\r\\n"),
        ])
    func visible(given: String, expected: String) {
        #expect(NotificationText.line(given, limit: 100) == expected)
    }

    @Test("long text is cut, combining marks counted one by one")
    func cut() {
        #expect(NotificationText.line(String(repeating: "x", count: 1_000), limit: 10) == "xxxxxxxxx…")
        let marks = NotificationText.line("x" + String(repeating: "\u{300}", count: 100_000), limit: 10)
        #expect(marks.unicodeScalars.count == 10)
        #expect(NotificationText.line("\u{1B}\u{1B}\u{1B}", limit: 10) == "\\u{1B}…")
        #expect(NotificationText.line("x", limit: 0) == "…")
    }

    @Test("no character of markup is left")
    func markup() {
        let text = "<a href=\"x\" title='y'>&amp;</a>"
        #expect(
            NotificationText.withoutMarkup(text)
                == "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;")
    }

    @Test("a call is bounded whatever is asked for, and actions with strange keys are left out")
    func bounds() {
        let long = String(repeating: "<", count: 1 << 20)
        let keys = ["ok", "", "Upper", "with space", String(repeating: "k", count: 33), "a", "b", "c", "d"]
        let request = NotificationRequest(
            summary: long, body: long,
            actions: keys.map { NotificationRequest.Action(key: $0, label: long) },
            expiry: .after(.seconds(Int64.max)), category: long)
        let call = NotifyCall(
            request, number: 1, replaces: 0, notification: 3, ServerAbilities(hasActions: true, hasMarkup: true))
        #expect(call.summary.unicodeScalars.count == NotificationLimits.summaryLength)
        #expect(call.body.utf8.count <= 4 * NotificationLimits.bodyLength)
        #expect(
            call.actions.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) == ["ok-3", "a-3", "b-3", "c-3"])
        #expect(call.actions.allSatisfy { $0.unicodeScalars.count <= NotificationLimits.labelLength })
        #expect(call.expiry == .max)
    }

    @Test(
        "times are milliseconds, at least one",
        arguments: [
            (NotificationRequest.Expiry.byServer, -1), (.never, 0), (.after(.seconds(2)), 2_000),
            (.after(.nanoseconds(1)), 1), (.after(.seconds(-5)), 1),
        ] as [(NotificationRequest.Expiry, Int32)])
    func expiry(given: NotificationRequest.Expiry, expected: Int32) {
        let request = NotificationRequest(summary: "x", expiry: given)
        let call = NotifyCall(
            request, number: 1, replaces: 0, notification: 3, ServerAbilities(hasActions: true, hasMarkup: true))
        #expect(call.expiry == expected)
    }
}
