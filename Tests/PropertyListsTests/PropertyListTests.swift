import Foundation
import TestSupport
import Testing

@testable import PropertyLists

@Suite("Property lists")
struct PropertyListTests {
    private static let bounds = PropertyListBounds(
        documentBytes: 1 << 20, depth: 32, values: 20_000, textBytes: 4 << 20)

    private static func dictionary(_ bytes: [UInt8]) throws(PropertyListError) -> [String: PropertyList] {
        try PropertyList.dictionary(from: bytes, within: bounds)
    }

    private static var sample: [String: Any] {
        [
            "text": "Grüße, 世界 🎈", "ascii": "plain", "empty": "", "yes": true, "no": false, "one": 1, "minus": -5,
            "large": Int64.max, "real": 2.5, "date": Date(timeIntervalSince1970: 0), "data": Data([1, 2, 3]),
            "list": ["a", ["b"], [:] as [String: Any]] as [Any], "long": Array(repeating: "x", count: 300),
        ]
    }

    private static let expected: [String: PropertyList] = [
        "text": .string("Grüße, 世界 🎈"), "ascii": .string("plain"), "empty": .string(""), "yes": .boolean(true),
        "no": .boolean(false), "one": .integer(1), "minus": .integer(-5), "large": .integer(.max), "real": .real(2.5),
        "date": .date, "data": .data([1, 2, 3]),
        "list": .array([.string("a"), .array([.string("b")]), .dictionary([:])]),
        "long": .array(Array(repeating: .string("x"), count: 300)),
    ]

    @Test("XML and binary property lists say the same", arguments: [true, false])
    func sameInBothForms(isBinary: Bool) throws {
        let data = try PropertyListSerialization.data(
            fromPropertyList: Self.sample, format: isBinary ? .binary : .xml, options: 0)
        #expect(try Self.dictionary(Array(data)) == Self.expected)
    }

    @Test(
        "a written list is read in both forms, and a date cannot be written",
        arguments: [PropertyList.Form.binary, .xml])
    func written(form: PropertyList.Form) throws {
        let keys = Self.expected.filter { $0.value != .date }
        #expect(try Self.dictionary(PropertyList.dictionary(keys).encoded(as: form)) == keys)
        #expect(throws: EncodingError.self) { try PropertyList.dictionary(Self.expected).encoded(as: form) }
    }

    @Test("a dictionary that has a key twice is refused")
    func keyTwice() {
        #expect(throws: PropertyListError.malformed("it has a key twice")) {
            try Self.dictionary(binary([[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x09]]))
        }
    }

    @Test("values that only the binary form has are recognised")
    func otherValues() throws {
        let list = try Self.dictionary(binary([[0xD2, 1, 2, 3, 4], [0x51, 0x61], [0x51, 0x62], [0x00], [0x80, 5]]))
        #expect(list == ["a": .other, "b": .other])
    }

    @Test("XML without a declaration, with a byte order mark or with one for another encoding is read as UTF-8")
    func xmlForms() throws {
        let body = "<plist><dict><key>a</key><string>ü &amp; &#x41;</string></dict></plist>"
        for head in ["", "\u{FEFF}", "<?xml version='1.0' encoding='UTF-7'?>\n", "  \n", "<!-- note -->"] {
            #expect(try Self.dictionary(Array((head + body).utf8)) == ["a": .string("ü & A")])
        }
    }

    @Test("a file that is neither XML nor binary is refused, old-style text too")
    func neither() {
        for text in ["", "   ", "{ a = b; }", "hello", "bplist15xxxxxxxx", "\u{1}\u{2}"] {
            #expect(throws: PropertyListError.neitherForm) { try Self.dictionary(Array(text.utf8)) }
        }
        let utf16 = Array("<plist><dict/></plist>".data(using: .utf16) ?? Data())
        #expect(throws: PropertyListError.notUTF8) { try Self.dictionary(utf16) }
        #expect(throws: PropertyListError.notUTF8) {
            try Self.dictionary(Array("<plist><string>".utf8) + [0xFF, 0x80])
        }
    }

    @Test("a property list that is no dictionary is refused")
    func notADictionary() throws {
        let array = try PropertyListSerialization.data(fromPropertyList: ["a"], format: .binary, options: 0)
        #expect(throws: PropertyListError.notADictionary) { try Self.dictionary(Array(array)) }
        #expect(throws: PropertyListError.notADictionary) {
            try Self.dictionary(Array("<plist><string>x</string></plist>".utf8))
        }
    }

    @Test("broken XML is refused with one line that says where")
    func brokenXML() {
        let texts = [
            "<plist><dict><key>a</key></dict></plist>", "<plist><dict>", "<html></html>", "<plist></plist>",
            "<plist><dict><string>x</string></dict></plist>", "<plist><dict><key>a</key><integer>x</integer></dict>",
            "<!DOCTYPE plist [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><plist><string>&a;</string></plist>",
            "<plist><dict><key>n</key><integer>99999999999999999999999</integer></dict></plist>", "<",
        ]
        for text in texts {
            do {
                _ = try Self.dictionary(Array(text.utf8))
                Issue.record("\(text) was taken")
            } catch {
                #expect(error.description.hasPrefix("is not a well-formed property list: "))
                #expect(!error.description.contains("\n"))
            }
        }
    }

    @Test("lists within lists within lists are refused, in XML and binary")
    func deep() throws {
        for depth in [40, 600, 60_000] {
            let xml =
                "<plist><dict><key>a</key>" + String(repeating: "<array>", count: depth)
                + String(repeating: "</array>", count: depth) + "</dict></plist>"
            #expect(throws: PropertyListError.self) { try Self.dictionary(Array(xml.utf8)) }
        }
        let nested = (0..<200).map { [0xA1, UInt8($0 + 1)] } + [[0x09]]
        #expect(throws: PropertyListError.tooDeep(Self.bounds)) { try Self.dictionary(binary(nested)) }
    }

    @Test("cycles of references end")
    func cycles() {
        #expect(throws: PropertyListError.tooDeep(Self.bounds)) { try Self.dictionary(binary([[0xA1, 0]])) }
        #expect(throws: PropertyListError.tooDeep(Self.bounds)) {
            try Self.dictionary(binary([[0xD1, 1, 2], [0x51, 0x61], [0xA1, 0]]))
        }
    }

    @Test("a small file that refers to one list a billion times is refused")
    func manyReferences() {
        let doubling = (0..<30).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] } + [[0x09]]
        #expect(throws: PropertyListError.tooManyValues(Self.bounds)) { try Self.dictionary(binary(doubling)) }
        // One text of 60,000 bytes, 200 times.
        let text: [UInt8] = [0x5F, 0x11, 0xEA, 0x60] + Array(repeating: 0x61, count: 60_000)
        let list: [UInt8] = [0xAF, 0x10, 200] + Array(repeating: 1, count: 200)
        #expect(throws: PropertyListError.tooManyValues(Self.bounds)) {
            try Self.dictionary(binary([list, text], offsetBytes: 4))
        }
    }

    @Test("lengths, offsets and numbers of objects that do not fit are refused")
    func lengths() {
        let huge: [UInt8] = [0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        let negative: [UInt8] = [0x13] + Array(repeating: 0xFF, count: 8)
        for marker: UInt8 in [0x4F, 0x5F, 0x6F, 0xAF, 0xDF] {
            for length in [huge, negative, [0x12, 0, 0, 0xFF, 0xFF], [0x14], [0x20], []] {
                #expect(throws: PropertyListError.self) {
                    try Self.dictionary(binary([[marker] + length]))
                }
            }
        }
        #expect(throws: PropertyListError.self) { try Self.dictionary(binary([[0xD1, 7, 7]])) }
        #expect(throws: PropertyListError.self) {
            try Self.dictionary(binary([[0xD1, 1, 1], [0x10, 5]]))
        }
        #expect(throws: PropertyListError.self) { try Self.dictionary(binary([[0xA1, 1], [0x80, 5]])) }
        for (count, top, table) in [(UInt64.max, 0, 8), (1, UInt64.max, 9), (1, 0, UInt64.max), (0, 0, 9), (1, 0, 0)] {
            var bytes = BinaryPropertyList.magic + [0xD0, 8]
            bytes += [0, 0, 0, 0, 0, 0, 1, 1]
            for number in [count, top, table] { bytes += bigEndian(number) }
            #expect(throws: PropertyListError.self) { try Self.dictionary(bytes) }
        }
    }

    @Test("a file over the limit is refused before it is looked at")
    func tooLarge() {
        let bytes = Array(repeating: UInt8(ascii: "<"), count: Self.bounds.documentBytes + 1)
        #expect(throws: PropertyListError.tooLarge(Self.bounds)) { try Self.dictionary(bytes) }
    }

    @Test("damaged files are read or refused, never fatal", arguments: [UInt64](1...6))
    func damaged(seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let good = try PropertyListSerialization.data(
            fromPropertyList: Self.sample, format: seed.isMultiple(of: 2) ? .binary : .xml, options: 0)
        for round in 0..<4_000 {
            var bytes = Array(good)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if round.isMultiple(of: 5) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            _ = try? Self.dictionary(bytes)
        }
    }

    @Test("random bytes are refused, never fatal")
    func garbage() {
        var random = SeededNumbers(seed: 7)
        for round in 0..<4_000 {
            let count = Int.random(in: 0...200, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if round.isMultiple(of: 2) { bytes = BinaryPropertyList.magic + bytes }
            _ = try? Self.dictionary(bytes)
        }
    }

    /// A binary property list of raw objects; the first is the top.
    private func binary(_ objects: [[UInt8]], offsetBytes: Int = 2) -> [UInt8] {
        var bytes = BinaryPropertyList.magic
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        for offset in offsets { bytes += bigEndian(UInt64(offset)).suffix(offsetBytes) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetBytes), 1]
        for number in [objects.count, 0, table] { bytes += bigEndian(UInt64(number)) }
        return bytes
    }

    private func bigEndian(_ number: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
