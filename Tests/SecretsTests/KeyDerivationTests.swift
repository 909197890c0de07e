import Testing

@testable import Secrets

@Suite("Keys that libcrypto derives")
struct KeyDerivationTests {
    @Test("HKDF gives what RFC 5869, appendix A, says, with and without salt and info")
    func hkdf() throws {
        let secret = SecretBytes([UInt8](repeating: 0x0b, count: 22))
        let first = try KeyDerivation.hkdf(
            salt: hex("000102030405060708090a0b0c"), secret: secret, info: hex("f0f1f2f3f4f5f6f7f8f9"), count: 42)
        #expect(
            first.revealed
                == hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
        let third = try KeyDerivation.hkdf(salt: [], secret: secret, info: [], count: 42)
        #expect(
            third.revealed
                == hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
    }

    @Test("HMAC gives what RFC 4231, section 4.3, says")
    func hmac() throws {
        let code = try KeyDerivation.hmac(
            key: SecretBytes(Array("Jefe".utf8)), SecretBytes(Array("what do ya want for nothing?".utf8)))
        #expect(code == hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
    }

    @Test("scrypt gives what RFC 7914, section 12, says for N = 2^14")
    func scrypt() throws {
        let stretched = try KeyDerivation.scrypt(
            password: SecretBytes(Array("pleaseletmein".utf8)), salt: Array("SodiumChloride".utf8), workFactor: 14,
            count: 64)
        let expected = hex(
            "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
                + "d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")
        #expect(stretched.revealed == expected)
    }

    @Test("scrypt refuses work factors that no memory is enough for", arguments: [Int.min, -1, 0, 31, 64, Int.max])
    func workFactors(factor: Int) {
        #expect(throws: SecretsError.self) {
            try KeyDerivation.scrypt(password: SecretBytes([1]), salt: [2], workFactor: factor, count: 32)
        }
    }

    @Test("random bytes have the length that was asked for, and are others each time", arguments: [1, 7, 8, 9, 33])
    func random(count: Int) {
        let many = (0..<64).map { _ in KeyDerivation.random(count) }
        #expect(many.allSatisfy { $0.count == count })
        #expect(count == 1 || Set(many).count > 60)
        // Each byte is random, the last one too.
        #expect((0..<count).allSatisfy { index in Set(many.map { $0[index] }).count > 16 })
        #expect(SecretBytes.random(count).count == count)
    }

    @Test("parts that are joined cannot be taken for other parts")
    func joining() {
        #expect(KeyDerivation.joined([[1], [2, 3]]) == [0, 0, 0, 1, 1, 0, 0, 0, 2, 2, 3])
        #expect(KeyDerivation.joined([[1, 2], [3]]) != KeyDerivation.joined([[1], [2, 3]]))
        #expect(KeyDerivation.joined([[], [1]]) != KeyDerivation.joined([[1], []]))
        #expect(KeyDerivation.joined([]) == [])
    }

    @Test("values of different lengths are not equal")
    func comparing() {
        #expect(KeyDerivation.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!KeyDerivation.areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!KeyDerivation.areEqual([1, 2, 3], [1, 2]))
        #expect(!KeyDerivation.areEqual([], [0]))
    }
}

func hex(_ text: String) -> [UInt8] {
    guard let bytes = Hexadecimal.bytes(text, count: text.utf8.count / 2) else {
        fatalError("not hexadecimal: \(text)")
    }
    return bytes
}
