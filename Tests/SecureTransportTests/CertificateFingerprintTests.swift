import Testing

@testable import SecureTransport

@Suite("Fingerprints of certificates")
struct CertificateFingerprintTests {
    private let digits = String(repeating: "09aF", count: 16)

    @Test("the text is upper case, and is read in either case")
    func text() throws {
        let fingerprint = try #require(CertificateFingerprint(text: digits))
        #expect(fingerprint.text == digits.uppercased())
        #expect(CertificateFingerprint(text: digits.lowercased()) == fingerprint)
        #expect(CertificateFingerprint(bytes: fingerprint.bytes) == fingerprint)
    }

    @Test("other texts are none")
    func others() {
        for text in ["", digits + "0", String(digits.dropLast()), digits.dropLast() + "g", digits.dropLast() + "é"] {
            #expect(CertificateFingerprint(text: String(text)) == nil)
        }
        #expect(CertificateFingerprint(text: "0x" + digits.dropLast(2)) == nil)
        #expect(CertificateFingerprint(text: String(repeating: digits, count: 100_000)) == nil)
        #expect(CertificateFingerprint(bytes: [1, 2, 3]) == nil)
    }

    @Test("an RSA identity has its own file, and its certificate is the same ever after")
    func file() throws {
        let folder = try TemporaryFolder()
        let first = try Identity.load(orMakeIn: folder.path, named: "other.pem", kinds: [.rsa2048])
        let second = try Identity.load(orMakeIn: folder.path, named: "other.pem", kinds: [.rsa2048])
        #expect(first.certificateFingerprint == second.certificateFingerprint)
        #expect(first.peerID == second.peerID)
        let path = folder.path + "/other.pem"
        let digest = try shell("stat -c %a \(path); openssl x509 -in \(path) -outform der | openssl dgst -sha256 -r")
        #expect(digest.hasPrefix("600\n" + first.certificateFingerprint.text.lowercased()))
        #expect(try Identity.load(orMakeIn: folder.path).peerID != first.peerID)
    }
}
