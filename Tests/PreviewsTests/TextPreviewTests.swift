import ContentCheck
import Previews
import Testing
import UniformTypes

@Suite("Previews of texts")
struct TextPreviewTests {
    private let files = PreviewFolder()

    @Test("the first 40 lines are shown, or as many as the user asks for, with any line end")
    func lines() throws {
        let bytes = Array((1...60).map { "\($0)\r\n" }.joined().utf8)
        let text = try #require(try files.text(bytes))
        #expect(text.lines == (1...40).map { "\($0)" } && text.isCut && text.encoding == .utf8)
        #expect(try files.text(bytes, lines: 3)?.lines == ["1", "2", "3"])
        let whole = try #require(try files.text(Array("a\rb\n\nc".utf8)))
        #expect(whole.lines == ["a", "b", "", "c"] && !whole.isCut)
    }

    @Test("UTF-16 of both orders is decoded, the byte order mark is left out, and an older encoding is named")
    func encodings() throws {
        #expect(try files.text([0xEF, 0xBB, 0xBF] + Array("é".utf8))?.lines == ["é"])
        for bytes in [[0xFF, 0xFE, 0xE9, 0, 0x0A, 0, 0x62, 0] as [UInt8], [0xFE, 0xFF, 0, 0xE9, 0, 0x0A, 0, 0x62]] {
            let text = try #require(try files.text(bytes))
            #expect(text.encoding == .utf16 && text.lines == ["é", "b"])
        }
        let old = try #require(try files.text(Array("caf".utf8) + [0xE9, 0x0A]))
        #expect(old.encoding == .latin1 && old.lines == ["café"])
    }

    @Test("address cards and calendars are texts, and an empty file is a text without lines")
    func kinds() throws {
        #expect(try files.text(Array("BEGIN:VCARD\nFN:A\nEND:VCARD\n".utf8), "a.vcf")?.lines.count == 3)
        #expect(try files.text(Array("BEGIN:VCALENDAR\nEND:VCALENDAR\n".utf8), "a.ics")?.lines.count == 2)
        #expect(try files.text([], "a.txt")?.lines == [])
    }

    @Test("of a line without end a bounded part is kept, and of an endless file a bounded part is read")
    func bounds() throws {
        let text = try #require(try files.text([UInt8](repeating: 0x61, count: 3 << 20)))
        #expect(text.lines.map(\.utf8.count) == [PreviewBounds.lineBytes] && text.isCut)
        let many = try #require(try files.text([UInt8](repeating: 0x0A, count: 3 << 20), lines: 10_000))
        #expect(many.lines.count == 10_000 && many.isCut)
        let path = try files.write(Array(String(repeating: "line\n", count: 40_000).utf8), "sparse.txt")
        try files.run("/usr/bin/truncate", ["-s", "1T", path])
        // Read whole, it would take hours.
        _ = try files.finding(at: path)
    }

    @Test("bytes of no kind have no preview, and no archive's type")
    func nothing() throws {
        let finding = try files.finding([0, 1, 2, 3, 0xFF, 0xFE, 0, 9], "a.bin")
        #expect(finding.preview == nil)
        #expect(finding.type == .data)
    }

    @Test("a text named photo.jpg is shown as the text that it is, and is no JPEG")
    func liar() throws {
        let finding = try files.finding(Array("hello\n".utf8), "photo.jpg")
        #expect(finding.verdict.outcome != .consistent && finding.type != .jpeg)
        guard case .text(let text)? = finding.preview else {
            Issue.record("\(finding)")
            return
        }
        #expect(text.lines == ["hello"])
    }
}
