import Secrets

/// Secrets that people pass on in an address, or type.
package enum WebSecret {
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// 128 random bits as 26 characters of Crockford's base 32 in lower case.
    package static func make() -> String {
        var characters: [UInt8] = []
        var (buffer, bits) = (0, 0)
        for byte in KeyDerivation.random(16) {
            buffer = (buffer << 8) | Int(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                characters.append(alphabet[buffer >> bits & 31])
            }
            buffer &= (1 << bits) - 1
        }
        characters.append(alphabet[buffer << (5 - bits) & 31])
        return String(decoding: characters, as: UTF8.self)
    }

    /// Six random digits.
    package static func makePIN() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = String(Int.random(in: 0..<1_000_000, using: &generator))
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    /// Whether two secrets are equal, in a time that says nothing about the place where they differ.
    package static func areEqual(_ one: String, _ other: String) -> Bool {
        KeyDerivation.areEqual(Array(one.utf8), Array(other.utf8))
    }
}
