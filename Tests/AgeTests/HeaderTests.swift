import Secrets
import Testing

@testable import Age

@Suite("The header of age files")
struct HeaderTests {
    private func header(_ text: String) -> AgeError? {
        fault { () throws(AgeError) in try AgeHeader(parsing: Array(text.utf8)) }
    }

    @Test("a header that a sealer wrote is read, with the length of its text")
    func length() throws {
        let recipients = try (0..<3).map { _ in try AgeIdentity.generate().recipient }
        let sealer = try AgeSealer(to: recipients)
        let header = try AgeHeader(parsing: sealer.header)
        #expect(header.payloadOffset == sealer.header.count)
        #expect(header.length == sealer.header.count - 16)
        #expect(header.payloadOffset == AgeLayout.headerBytes(recipients: 3))
        #expect(header.stanzas.map(\.kind) == ["X25519", "X25519", "X25519"])
        #expect(!header.isForPassphrase)
    }

    @Test("each start of a header is one that is cut off")
    func starts() throws {
        let sealer = try AgeSealer(to: [try AgeIdentity.generate().recipient])
        let text = sealer.header.dropLast(16)
        for count in 0..<text.count {
            #expect(fault { () throws(AgeError) in try AgeHeader(parsing: Array(text.prefix(count))) } == .truncated)
        }
    }

    @Test("no flip of any bit in the header of a file with two recipients goes unnoticed")
    func flips() throws {
        let identity = try AgeIdentity.generate()
        let file = try sealed([1, 2, 3], to: [try AgeIdentity.generate().recipient, identity.recipient])
        let length = try AgeHeader(parsing: file).length
        for index in 0..<length {
            for bit in 0..<8 {
                var flipped = file
                flipped[index] ^= 1 << bit
                let (contents, fault) = try unsealed(flipped, with: [identity])
                #expect(fault != nil && contents.isEmpty)
            }
        }
        // The nonce is no part of the header: its change makes another key.
        for index in length..<(length + 16) {
            var flipped = file
            flipped[index] ^= 1
            #expect(try unsealed(flipped, with: [identity]).fault == .damaged)
        }
    }

    @Test("armored files, other versions and other files are refused")
    func otherFiles() {
        #expect(header("-----BEGIN AGE ENCRYPTED FILE-----\nYWdl")?.isUnsupported == true)
        #expect(header("age-encryption.org/v2\n-> X25519")?.isUnsupported == true)
        #expect(header("\u{89}PNG\r\n")?.isMalformed == true)
        #expect(header("age-encryption.org/v1\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n")?.isMalformed == true)
    }

    @Test("a header has at most 64 recipients, and at most 64 KiB")
    func bounds() throws {
        let stanza = "-> a\n\n"
        let start = "age-encryption.org/v1\n"
        let end = "--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
        #expect(header(start + String(repeating: stanza, count: 64) + end) == nil)
        #expect(header(start + String(repeating: stanza, count: 65) + end)?.isUnsupported == true)
        let longest = 65_536 - start.utf8.count - end.utf8.count - "-> \n\n".utf8.count
        #expect(header(start + "-> " + String(repeating: "a", count: longest) + "\n\n" + end) == nil)
        #expect(
            header(start + "-> " + String(repeating: "a", count: longest + 1) + "\n\n" + end)?.isUnsupported == true)
        let endless = start + "-> a\n" + String(repeating: String(repeating: "A", count: 64) + "\n", count: 2000)
        #expect(header(endless)?.isUnsupported == true)
        #expect(try unsealed(Array(endless.utf8), with: []).fault?.isUnsupported == true)

        let recipient = try AgeIdentity.generate().recipient
        let longestHeader = try AgeSealer(to: Array(repeating: recipient, count: 64)).header
        #expect(longestHeader.count < AgeHeader.maximumBytes)
        #expect(throws: AgeError.self) { _ = try AgeSealer(to: Array(repeating: recipient, count: 65)) }
        #expect(throws: AgeError.self) { _ = try AgeSealer(to: []) }
    }

    @Test("base64 that is not canonical, or has other characters, is none")
    func base64() {
        for count in 0..<50 {
            let bytes = contents(count)
            #expect(Base64.bytes(Base64.text(bytes)) == bytes)
        }
        for text in ["A", "AAAAA", "AB", "AAB", "AA==", "AA=", "A A", "AA\n", "-_AA", "ÄA"] {
            #expect(Base64.bytes(Array(text.utf8)) == nil)
        }
        #expect(Base64.bytes(Array("AQ".utf8)) == [1])
    }
}
