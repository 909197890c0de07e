/// The identity of a peer: the SHA-256 of its public key (the DER `SubjectPublicKeyInfo` of its certificate) alone.
///
/// Names, addresses and contents of messages never decide a peer's identity (security rule 1).
package struct PeerID: Hashable, Sendable {
    /// Bytes in an id: a SHA-256.
    package static let byteCount = 32

    /// The fingerprint, exactly `byteCount` bytes.
    package let bytes: [UInt8]

    /// The dialect in which the peer proved no key; nil for the id of a key. An id without a key is for one visit. It
    /// is never shown, because it would look like a proof.
    package let unprovenBy: Dialect?

    /// - Returns: nil unless `bytes` holds exactly `byteCount` bytes.
    package init?(fingerprint bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.byteCount else { return nil }
        (self.bytes, unprovenBy) = (bytes, nil)
    }

    init(_ id: PeerID, unprovenBy dialect: Dialect) { (bytes, unprovenBy) = (id.bytes, dialect) }

    package static func == (left: PeerID, right: PeerID) -> Bool { left.bytes == right.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

    /// `text` of a key that was proved; nil if none was.
    package var provenText: String? { unprovenBy == nil ? text : nil }

    /// For logs and messages: `short`, or `by AirDrop` if no key was proved.
    package var shown: String { unprovenBy.map { "by \($0.title)" } ?? short }

    /// The whole id as it is shown, typed and stored: 56 characters without groups, of which the last four are check
    /// digits (`checkDigits`).
    package var text: String {
        let digits = Self.digits(of: bytes)
        return Self.text(digits + Self.checkDigits(of: digits))
    }

    /// The 52 characters of `text` without the check digits: the key in tables and hashes, which people do not read.
    package var bareText: String { Self.text(Self.digits(of: bytes)) }

    /// The short form shown to people: the first 80 bits in four groups, `k7qf-9m2c-x4ap-t0zd`.
    package var short: String {
        let text = bareText.prefix(16)
        var groups: [Substring] = []
        var start = text.startIndex
        while start < text.endIndex {
            let end = text.index(start, offsetBy: 4)
            groups.append(text[start..<end])
            start = end
        }
        return groups.joined(separator: "-")
    }

    /// Crockford's base 32 in lower case: no `i`, `l`, `o`, `u`, so that it can be read aloud and typed.
    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// Fewest characters of an id that are accepted as a prefix of it.
    package static let shortestPrefix = 4

    /// Characters of a whole id without its check digits, and with them.
    package static let bareCharacters = 52
    package static let characters = bareCharacters + checkCharacters

    /// Reads the whole form, with or without groups, in either case.
    ///
    /// - Returns: nil for anything that is not the text of a whole id, or whose check digits do not fit.
    package init?(text: String) {
        guard let digits = Self.digits(of: text), digits.count == Self.characters,
            Self.checkDigits(of: digits.prefix(Self.bareCharacters)) == Array(digits.suffix(Self.checkCharacters))
        else { return nil }
        self.init(digits: digits.prefix(Self.bareCharacters))
    }

    /// Reads the form of `bareText`. It has no check digits, so a wrong character goes unnoticed.
    package init?(bareText: String) {
        guard let digits = Self.digits(of: bareText) else { return nil }
        self.init(digits: digits[...])
    }

    private init?(digits: ArraySlice<UInt8>) {
        guard digits.count == Self.bareCharacters, let last = digits.last, last & 0b1111 == 0 else { return nil }
        var bytes: [UInt8] = []
        var buffer = 0
        var bits = 0
        for digit in digits {
            buffer = (buffer << 5) | Int(digit)
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
                buffer &= (1 << bits) - 1
            }
        }
        self.init(fingerprint: bytes)
    }

    /// Whether `prefix`, as a user types it (groups and case do not matter), is the beginning of this id.
    ///
    /// False for prefixes of fewer than `shortestPrefix` characters.
    package func hasPrefix(_ prefix: String) -> Bool {
        guard let digits = Self.digits(of: prefix), digits.count >= Self.shortestPrefix, digits.count <= Self.characters
        else { return false }
        return text.utf8.starts(with: digits.map { Self.alphabet[Int($0)] })
    }

    private static func text(_ digits: [UInt8]) -> String {
        String(decoding: digits.map { alphabet[Int($0)] }, as: UTF8.self)
    }

    private static func digits(of bytes: [UInt8]) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(characters)
        var buffer = 0
        var bits = 0
        for byte in bytes {
            buffer = (buffer << 8) | Int(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                digits.append(UInt8(buffer >> bits))
                buffer &= (1 << bits) - 1
            }
        }
        if bits > 0 { digits.append(UInt8(buffer << (5 - bits))) }
        return digits
    }

    private static func digits(of text: String) -> [UInt8]? {
        guard text.utf8.count <= 128 else { return nil }
        var digits: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "-") {
            // ASCII's own lower case: Unicode's makes a `k` of the Kelvin sign.
            let lower = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            guard let value = alphabet.firstIndex(of: lower) else { return nil }
            digits.append(UInt8(value))
        }
        return digits
    }
}

extension PeerID: CustomStringConvertible {
    package var description: String { short }
}

extension PeerID: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let id = PeerID(text: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the text of a peer id")
        }
        self = id
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
