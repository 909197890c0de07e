import Digests
import Foundation
import Testing

@Suite("Digests as bytes and text")
struct DigestTextTests {
    static let xxh3Text = "xxh3-128:99aa06d3014798d86001c324468d497f"
    static let sha256Text = "sha-256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test("a digest reads back from its text", arguments: DigestAlgorithm.allCases)
    func roundTrip(algorithm: DigestAlgorithm) throws {
        for count in 0..<64 {
            let digest = Digest.of(algorithm, Array(repeating: 7, count: count))
            #expect(try Digest(parsing: digest.description) == digest)
            #expect(Digest(digest.description) == digest)
            #expect(try Digest(algorithm, bytes: digest.bytes) == digest)
            #expect(digest.bytes.count == algorithm.byteCount)
        }
    }

    @Test("the text is the algorithm, a colon and the bytes in order")
    func textForm() throws {
        let digest = try Digest(.xxh3_128, bytes: Array(0..<16))
        #expect(digest.description == "xxh3-128:000102030405060708090a0b0c0d0e0f")
        #expect(digest.bytes == Array(0..<16))
        #expect(digest.withUnsafeBytes { Array($0) } == Array(0..<16))
    }

    @Test("a substring is read like a string")
    func substring() throws {
        let line = "digest=\(Self.sha256Text);"
        let digest = try Digest(parsing: line.dropFirst(7).dropLast())
        #expect(digest == Digest.of(.sha256, []))
    }

    @Test(
        "anything but the exact text form is refused",
        arguments: [
            "", ":", "xxh3-128", "xxh3-128:", "99aa06d3014798d86001c324468d497f", ":99aa06d3014798d86001c324468d497f",
            // White space, upper case, and digits that only look like digits.
            " " + xxh3Text, xxh3Text + " ", xxh3Text + "\n", xxh3Text + "\0",
            "xxh3-128: 9aa06d3014798d86001c324468d497f",
            "XXH3-128:99aa06d3014798d86001c324468d497f", "xxh3-128:99AA06D3014798D86001C324468D497F",
            "xxh3-128:99aa06d3014798d86001c324468d497g", "xxh3-128:99aa06d3014798d86001c324468d49７",
            "xxh3-128:0x99aa06d3014798d86001c324468d49", "xxh3-128:+9aa06d3014798d86001c324468d497f",
            // Too short, too long, the length of the other algorithm.
            "xxh3-128:99aa06d3014798d86001c324468d497", "xxh3-128:99aa06d3014798d86001c324468d497f0",
            "sha-256:99aa06d3014798d86001c324468d497f", "xxh3-128:" + sha256Text.dropFirst(8),
            // Other algorithms, and other spellings.
            "md5:d41d8cd98f00b204e9800998ecf8427e", "sha256:" + sha256Text.dropFirst(8),
            "xxh3-128=99aa06d3014798d86001c324468d497f", "xxh3-128::99aa06d3014798d86001c324468d497f",
        ]
    )
    func hostileText(text: String) {
        #expect(throws: DigestError.self) { try Digest(parsing: text) }
        #expect(Digest(text) == nil)
    }

    @Test("the refusal names its reason")
    func reasons() {
        #expect(throws: DigestError.malformedText) { try Digest(parsing: "nonsense") }
        #expect(throws: DigestError.unknownAlgorithm) { try Digest(parsing: "md5:00") }
        #expect(throws: DigestError.wrongLength(for: .sha256)) { try Digest(parsing: "sha-256:00") }
        #expect(throws: DigestError.wrongLength(for: .xxh3_128)) { try Digest(.xxh3_128, bytes: [1, 2, 3]) }
        for count in [0, 15, 17, 32] {
            let bytes = [UInt8](repeating: 1, count: count)
            #expect(throws: DigestError.wrongLength(for: .xxh3_128)) {
                try bytes.withUnsafeBytes { try Digest(.xxh3_128, bytes: $0) }
            }
        }
        #expect(DigestError.unknownAlgorithm.description.contains("xxh3-128, sha-256"))
    }

    @Test("a very long text is refused without being quoted")
    func longText() {
        let long = String(repeating: "a", count: 8 << 20)
        for text in [long, "xxh3-128:" + long, long + ":00"] {
            let error = #expect(throws: DigestError.self) { try Digest(parsing: text) }
            #expect((error?.description.utf8.count ?? .max) < 200)
        }
    }

    @Test("digests of different algorithms differ even when their bytes begin alike")
    func equality() throws {
        let short = try Digest(.xxh3_128, bytes: Array(repeating: 0, count: 16))
        let long = try Digest(.sha256, bytes: Array(repeating: 0, count: 32))
        #expect(short != long)
        #expect(Set([short, long, short]).count == 2)
    }

    @Test("JSON carries a digest as one string")
    func codable() throws {
        let digest = try Digest(parsing: Self.xxh3Text)
        let encoded = try JSONEncoder().encode(["d": digest])
        #expect(String(decoding: encoded, as: UTF8.self) == #"{"d":"\#(Self.xxh3Text)"}"#)
        #expect(try JSONDecoder().decode([String: Digest].self, from: encoded) == ["d": digest])
    }

    @Test(
        "JSON that holds no digest is refused with its reason",
        arguments: [#"["md5:00"]"#, #"["xxh3-128:zz"]"#, #"[""]"#]
    )
    func hostileJSON(json: String) {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([Digest].self, from: Data(json.utf8))
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("not reported as corrupted data")
            return
        }
        #expect(context.debugDescription.hasPrefix("could not read a digest"))
        #expect(context.underlyingError is DigestError)
    }

    @Test("JSON of another kind is refused", arguments: ["[1]", "[null]", #"[{"xxh3-128":"00"}]"#, "[[]]"])
    func otherJSON(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([Digest].self, from: Data(json.utf8)) }
    }
}
