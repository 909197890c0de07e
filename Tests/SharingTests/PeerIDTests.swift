import Foundation
import Sharing
import TestSupport
import Testing

@Suite("Peer ids")
struct PeerIDTests {
    @Test("a fingerprint has exactly 32 bytes", arguments: [0, 1, 31, 33, 1_000])
    func wrongLength(count: Int) {
        #expect(PeerID(fingerprint: Array(repeating: 7, count: count)) == nil)
    }

    @Test("the text of an id has 56 characters and reads back as the same id", arguments: 0..<200 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var dice = SeededNumbers(seed: seed)
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &dice) }
        let id = try #require(PeerID(fingerprint: bytes))
        #expect(id.text.utf8.count == 56)
        #expect(id.text.hasPrefix(id.bareText))
        #expect(PeerID(bareText: id.bareText) == id)
        #expect(PeerID(text: id.text) == id)
        #expect(PeerID(text: id.text.uppercased()) == id)
        let coded = try JSONDecoder().decode([PeerID].self, from: JSONEncoder().encode([id]))
        #expect(coded == [id])
    }

    @Test("known bytes have a known text")
    func vectors() throws {
        #expect(PeerID.sample(0).bareText == String(repeating: "0", count: 52))
        // 256 ones: 51 digits of five, and one of a one with four zeroes behind it.
        #expect(PeerID.sample(0xFF).bareText == String(repeating: "z", count: 51) + "g")
        let counting = try #require(PeerID(fingerprint: 0..<32))
        #expect(counting.bareText == "000g40r40m30e209185gr38e1w8124gk2gahc5rr34d1p70x3rfg")
        #expect(counting.short == "000g-40r4-0m30-e209")
    }

    @Test("the short form is the beginning in four groups, and a prefix of its id")
    func short() {
        let id = PeerID.sample(0xA5)
        #expect(id.short.replacing("-", with: "") == id.text.prefix(16))
        #expect(id.short.count == 19)
        #expect(id.hasPrefix(id.short))
        #expect("\(id)" == id.short)
    }

    @Test("a prefix of four characters or more is found, groups and case do not matter")
    func prefixes() {
        let id = PeerID.sample(0xA5)
        for count in 4...56 { #expect(id.hasPrefix(String(id.text.prefix(count)))) }
        #expect(id.hasPrefix(id.short.uppercased()))
        #expect(!id.hasPrefix(String(id.text.prefix(3))))
        #expect(!id.hasPrefix(""))
        #expect(!id.hasPrefix("----"))
        #expect(!id.hasPrefix(id.text + "0"))
        #expect(!id.hasPrefix(PeerID.sample(0xA4).short))
    }

    @Test(
        "hostile text is no id",
        arguments: [
            "", "-", "kitchen", "../../etc/passwd", String(repeating: "0", count: 51),
            String(repeating: "0", count: 53),
            String(repeating: "0", count: 51) + "1",  // bits behind the last byte
            String(repeating: "z", count: 52), String(repeating: "u", count: 52), String(repeating: "0", count: 56),
            String(repeating: "0", count: 4_096),
            // The Kelvin sign, whose lower case is an ASCII k; fullwidth digits; a combining mark; NUL.
            "\u{212A}" + String(repeating: "0", count: 51), String(repeating: "\u{FF10}", count: 52),
            "0\u{301}" + String(repeating: "0", count: 51), "\0" + String(repeating: "0", count: 51),
            " " + String(repeating: "0", count: 52), String(repeating: "0", count: 52) + "\n",
        ])
    func hostile(text: String) {
        #expect(PeerID(text: text) == nil)
        #expect(PeerID(bareText: text) == nil)
        #expect(!PeerID.sample(0).hasPrefix("zzzz" + text))
    }

    @Test("without its check digits a text is no id")
    func unchecked() {
        for id in [PeerID.sample(0), .sample(0xA5), .sample(0xFF)] { #expect(PeerID(text: id.bareText) == nil) }
    }

    @Test(
        "any wrong character, any two that are exchanged and any three flipped bits make it no id",
        arguments: [PeerID.sample(0), .sample(0xA5), .sample(0xFF)])
    func checkDigits(id: PeerID) {
        let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        let whole = Array(id.text.utf8)
        func isID(_ text: [UInt8]) -> Bool { PeerID(text: String(decoding: text, as: UTF8.self)) != nil }
        #expect(isID(whole))
        for place in whole.indices {
            var text = whole
            for other in alphabet where other != whole[place] {
                text[place] = other
                #expect(!isID(text))
            }
            for other in whole.indices where whole[other] != whole[place] {
                var text = whole
                text.swapAt(place, other)
                #expect(!isID(text))
            }
        }
        var dice = SeededNumbers(seed: 22)
        for _ in 0..<2_000 {
            var digits = whole.compactMap { alphabet.firstIndex(of: $0) }
            let bits = Set((0..<3).map { _ in Int.random(in: 0..<280, using: &dice) })
            for bit in bits { digits[bit / 5] ^= 1 << (bit % 5) }
            #expect(!isID(digits.map { alphabet[$0] }))
        }
    }

    @Test("JSON that holds no id is an error")
    func notAnID() {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([PeerID].self, from: Data("[\"k7qf\"]".utf8)) }
    }
}

@Suite("Transfer ids")
struct TransferIDTests {
    @Test("a new id has 32 lower-case hexadecimal digits, and is another each time")
    func new() {
        let ids = Set((0..<1_000).map { _ in TransferID() })
        #expect(ids.count == 1_000)
        for id in ids { #expect(TransferID(id.text) == id) }
    }

    @Test(
        "anything else is no id",
        arguments: [
            "", "0", String(repeating: "0", count: 31), String(repeating: "0", count: 33),
            String(repeating: "A", count: 32), String(repeating: "g", count: 32),
            "../" + String(repeating: "0", count: 29),
            String(repeating: "\u{FF10}", count: 32), String(repeating: "0", count: 31) + "\0",
            "0x" + String(repeating: "0", count: 30), "-" + String(repeating: "1", count: 31),
            String(repeating: "é", count: 16),
        ])
    func hostile(text: String) {
        #expect(TransferID(text) == nil)
    }
}

@Suite("The readable form of a key")
struct TextTests {
    @Test(
        "bytes are counted in powers of 1,000 with one decimal",
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1_000, "1.0 kB"), (1_049, "1.0 kB"), (1_050, "1.1 kB"),
            (999_949, "999.9 kB"), (999_950, "1.0 MB"), (4_300_000_000, "4.3 GB"), (1_000_000_000_000, "1.0 TB"),
            (999_950_000_000_000, "1.0 PB"), (1 << 60, "1.2 EB"), (.max, "18.4 EB"),
        ] as [(UInt64, String)])
    func byteCounts(count: UInt64, text: String) {
        #expect(ByteCount.text(count) == text)
    }

    @Test(
        "a peer's name is made fit to be shown",
        arguments: [
            ("kitchen", "kitchen"), ("", "unnamed"), ("   ", "unnamed"), ("\u{1B}[2Jevil", "[2Jevil"),
            ("a\nb\r\nc\0d", "abcd"), ("\u{202E}gpj.exe", "gpj.exe"), ("../..", "...."), ("  padded  ", "padded"),
            ("Küche 🍳", "Küche 🍳"), ("a/b", "ab"), ("\u{FEFF}\u{200F}", "unnamed"),
        ])
    func peerNames(text: String, fit: String) {
        #expect(PeerName.fit(text) == fit)
    }

    @Test("a long name is cut at a whole character")
    func longNames() {
        #expect(PeerName.fit(String(repeating: "a", count: 64)) == String(repeating: "a", count: 63))
        // 15 of four bytes are 60; another one would be 64.
        #expect(PeerName.fit(String(repeating: "🍳", count: 30)) == String(repeating: "🍳", count: 15))
        let family = "👨‍👩‍👧‍👦"
        #expect(PeerName.fit(String(repeating: family, count: 9)) == String(repeating: family, count: 2))
        #expect(PeerName.fit("e" + String(repeating: "\u{301}", count: 1_000_000), fallback: "x") == "x")
    }

    @Test("twenty megabytes of unprintable text are not examined to their end")
    func hugeNames() {
        #expect(PeerName.fit(String(repeating: "\u{7}", count: 20 << 20), fallback: "nobody") == "nobody")
    }

    @Test("a time keeps its nanoseconds below a second")
    func timestamps() {
        #expect(Timestamp(seconds: .min, nanoseconds: .max).nanoseconds == 999_999_999)
        #expect(Timestamp(seconds: -1, nanoseconds: 5) == Timestamp(seconds: -1, nanoseconds: 5))
    }

    @Test("sizes in an offer add up without overflow")
    func knownSize() {
        var offer = Offer.sample(items: 3, size: .max)
        #expect(offer.knownSize == .max)
        offer = Offer.sample(items: 3, size: nil)
        #expect(offer.knownSize == 0)
        #expect(Offer.sample(items: 3, size: 5).knownSize == 15)
    }
}
