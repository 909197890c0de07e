import Testing

@testable import CommandLine

@Suite("The progress line")
struct ProgressLineTests {
    private let start = ContinuousClock.now

    @Test("it shows share, amount, rate and time left")
    func whole() {
        var line = ProgressLine(total: 100_000_000)
        _ = line.text(bytes: 0, at: start, width: 100)
        let text = line.text(bytes: 20_000_000, at: start + .seconds(2), width: 100)
        #expect(text.contains("20%"))
        #expect(text.contains("20.0 MB of 100.0 MB"))
        #expect(text.contains("10.0 MB/s"))
        #expect(text.contains("0:08 left"))
        #expect(text.hasPrefix("[██████·"))
    }

    @Test("the rate is that of the last seconds, not of the whole")
    func recent() {
        var line = ProgressLine(total: nil)
        for second in 0...20 {
            let bytes: UInt64 =
                second <= 10 ? UInt64(second) * 100_000_000 : 1_000_000_000 + UInt64(second - 10) * 1_000_000
            let text = line.text(bytes: bytes, at: start + .seconds(second), width: 100)
            if second == 20 { #expect(text.contains("1.0 MB/s"), "\(text)") }
        }
    }

    @Test("as lines there is one at each tenth, with the label, and one each 100 MB where the size is unknown")
    func steps() {
        var line = ProgressLine("a.bin → kitchen", total: 1_000)
        let shown = (0...100).compactMap { line.step(bytes: $0 * 10, at: start + .seconds(Int($0))) }
        #expect(shown.count == 10, "\(shown)")
        #expect(shown.first == "a.bin → kitchen: 10%, 100 bytes of 1.0 kB, 10 bytes/s, 1:30 left", "\(shown)")
        #expect(shown.last?.hasPrefix("a.bin → kitchen: 100%, ") == true, "\(shown)")
        var resumed = ProgressLine(total: 1_000)
        #expect(resumed.step(bytes: 650, moved: 0, at: start) == "60%, 650 bytes of 1.0 kB")
        #expect(resumed.step(bytes: 690, moved: 40, at: start) == nil)
        var unknown = ProgressLine(total: nil)
        let megabytes = (0...35).compactMap { unknown.step(bytes: $0 * 10_000_000, at: start) }
        #expect(megabytes == ["100.0 MB", "200.0 MB", "300.0 MB"])
    }

    @Test("it never is wider than the terminal", arguments: 20...120)
    func width(columns: Int) {
        for total in [nil, 0, 1, 5_000_000_000] as [UInt64?] {
            var line = ProgressLine(total: total)
            _ = line.text(bytes: 0, at: start, width: columns)
            #expect(line.text(bytes: 3_456_789_012, at: start + .seconds(3), width: columns).count <= columns)
        }
    }

    @Test("more bytes than were announced are no more than all")
    func over() {
        var line = ProgressLine(total: 10)
        #expect(line.text(bytes: 20, at: start, width: 80).contains("100%"))
    }

    @Test(
        "signs of two columns count two, so that no line is wider than the terminal",
        arguments: [
            ("abc", 3), ("한글", 4), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("🎉", 2), ("Ａ", 2), ("…", 1), ("ﾊ", 1),
        ])
    func columns(_ text: String, _ columns: Int) {
        #expect(text.columns == columns)
        let label = String(repeating: text, count: 60)
        #expect(label.prefix(columns: 39).columns <= 39)
        #expect(label.prefix(columns: 39).columns > 39 - max(columns, 1))
        for width in 10...120 {
            var line = ProgressLine(label, total: 1_000)
            #expect(line.text(bytes: 10, at: .now, width: width).columns <= width)
        }
    }

    @Test(
        "marks and joiners take no column, and an emoji that a selector makes takes two",
        arguments: [
            ("\u{1100}\u{1161}\u{11A8}", 2), ("می\u{200C}ر", 3), ("ක\u{DCA}\u{200D}ර", 2), ("x\u{200B}y", 2),
            ("❤\u{FE0F}", 2), ("a\u{AD}b", 3), ("กำ\u{E49}", 2),
        ])
    func withoutWidth(_ text: String, _ columns: Int) {
        #expect(text.columns == columns)
        #expect(text.padded(to: 10).columns == 10 && text.padded(to: 1, gap: 1) == text + " ")
    }
}
