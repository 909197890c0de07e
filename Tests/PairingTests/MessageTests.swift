import Testing

@testable import Pairing

/// Bytes that are no message of an initiator.
enum HostileMessages {
    private static let value = String(repeating: "ab", count: 32)

    static let all: [[UInt8]] =
        [
            "", " ", "null", "1", "[]", "{}", "\"commit\"", "{\"v\":1}", "{\"v\":1,\"step\":\"commit\"}",
            message(#""v":2,"from":"initiator","step":"commit""#),
            message(#""v":"1","from":"initiator","step":"commit""#),
            message(#""v":1e400,"from":"initiator","step":"commit""#),
            message(#""v":-1,"from":"initiator","step":"commit""#), message(#""from":"initiator","step":"commit""#),
            message(#""v":1,"step":"commit""#), message(#""v":1,"from":"responder","step":"commit""#),
            message(#""v":1,"from":"nobody","step":"commit""#), message(#""v":1,"from":"initiator","step":"verified""#),
            message(#""v":1,"from":"initiator","step":7"#),
            #"{"v":1,"from":"initiator","step":"commit","value":null}"#,
            #"{"v":1,"from":"initiator","step":"commit","value":[]}"#,
            #"{"v":1,"from":"initiator","step":"commit","value":"\#(value)0"}"#,
            #"{"v":1,"from":"initiator","step":"commit","value":"\#(value)00"}"#,
            #"{"v":1,"from":"initiator","step":"commit","value":"\#(value.dropLast())"}"#,
            #"{"v":1,"from":"initiator","step":"commit","value":"\#(value.uppercased())"}"#,
            #"{"v":1,"from":"initiator","step":"commit","value":"\#(value.dropLast())é"}"#,
            #"{"v":1,"from":"initiator","step":"share","value":"\#(value)"}"#,
            String(repeating: "[", count: 1_024), String(repeating: "{\"a\":", count: 200),
            String(repeating: " ", count: 1_025), String(repeating: "0", count: 4 << 20),
        ].map { Array($0.utf8) } + [
            [0], [0xFF, 0xFE, 0x7B, 0x00], [UInt8](repeating: 0xFF, count: 1_024),
            [UInt8](repeating: UInt8(ascii: "["), count: 16 << 20),
        ]

    private static func message(_ fields: String) -> String { "{\(fields),\"value\":\"\(value)\"}" }
}

@Suite("Messages")
struct MessageTests {
    @Test("a written message is read again, and only from the side that wrote it")
    func roundTrip() throws {
        let value = [UInt8](0..<32)
        let messages: [PairingMessage] = [
            .commit(value), .nonce(value), .reveal(value), .agree(value), .confirm(value), .prove(value),
            .share([4] + value + value, .contact), .share([4] + value + value, .send(nameplate: 0)),
            .share([4] + value + value, .receive(nameplate: 99)),
        ]
        for message in messages {
            for role in [PairingRole.initiator, .responder] {
                let bytes = message.encoded(from: role)
                #expect(bytes.count <= PairingLimits.messageBytes)
                #expect(try PairingMessage(bytes, from: role) == message)
                #expect(throws: PairingError.self) { try PairingMessage(bytes, from: role.other) }
            }
        }
        let refusal = PairingMessage.refused(.busy)
        #expect(try PairingMessage(refusal.encoded, from: .responder) == refusal)
    }

    @Test("unknown fields are ignored")
    func unknownFields() throws {
        let value = String(repeating: "00", count: 32)
        let text = #"{"v":1,"new":{"a":[1]},"from":"initiator","step":"commit","value":"\#(value)"}"#
        #expect(
            try PairingMessage(Array(text.utf8), from: .initiator) == .commit([UInt8](repeating: 0, count: 32)))
    }

    @Test("hostile bytes are malformed, whatever their size")
    func hostile() {
        for bytes in HostileMessages.all {
            let fault = fault { () throws(PairingError) in try PairingMessage(bytes, from: .initiator) }
            #expect(fault?.code == .malformed, "\(String(decoding: bytes.prefix(80), as: UTF8.self))")
        }
    }

    @Test("the text of a fault has none of the peer's text")
    func faultsAreClean() {
        let text = "{\"v\":1,\"step\":\"\u{1B}[31m<img>\"}"
        let fault = fault { () throws(PairingError) in try PairingMessage(Array(text.utf8), from: .initiator) }
        #expect(fault?.description == "the peer's message is malformed: it is not JSON of the form that is known here")
    }
}

@Suite("Digits, words and codes for people")
struct PeopleTests {
    @Test("there are 256 words, of four to eight letters, sorted, and no two alike")
    func words() {
        let words = WordList.words
        #expect(words.count == 256)
        #expect(words == words.sorted())
        #expect(Set(words.map { $0.prefix(4) }).count == 256)
        for word in words {
            #expect((4...8).contains(word.utf8.count) && word.utf8.allSatisfy { (0x61...0x7A).contains($0) })
        }
        for (index, word) in words.enumerated() {
            for other in words[..<index] { #expect(distance(word, other) >= 3, "\(word) and \(other)") }
        }
    }

    /// Letters to be changed, put in or left out to make one of the other.
    private func distance(_ one: Substring, _ other: Substring) -> Int {
        var row = Array(0...other.utf8.count)
        for (index, letter) in one.utf8.enumerated() {
            var next = [index + 1]
            for (column, otherLetter) in other.utf8.enumerated() {
                let change = row[column] + (letter == otherLetter ? 0 : 1)
                next.append(min(next[column] + 1, row[column + 1] + 1, change))
            }
            row = next
        }
        return row[other.utf8.count]
    }

    @Test("a short string has six digits, leading zeros among them, and three words")
    func shortString() {
        let string = ShortString([0, 0, 0, 0, 0, 0, 0, 42, 0, 1, 255])
        #expect(string.digits == "000042")
        #expect(string.words == [WordList.words[0], WordList.words[1], WordList.words[255]].map(String.init))
        #expect(ShortString([UInt8](repeating: 0xFF, count: 11)).digits == "551615")
        #expect(string.description == "000 042 \(string.words.joined(separator: " "))")
    }

    @Test("a code is read back as it is shown, with or without its hyphens")
    func codes() {
        let code = PairingCode.random()
        #expect(code.text.count == 11)
        #expect(PairingCode(text: code.text)?.text == code.text)
        #expect(PairingCode(text: " 123 456-789 ")?.text == "123-456-789")
        let wrong = ["", "12345678", "1234567890", "12345678a", "１２３４５６７８９", "123456789\n"]
        for text in wrong + [String(repeating: "-", count: 1 << 20)] {
            #expect(PairingCode(text: text) == nil)
        }
        #expect(Set((0..<20).map { _ in PairingCode.random().text }).count > 10)
    }
}
