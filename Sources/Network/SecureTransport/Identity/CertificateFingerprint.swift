internal import COpenSSL

/// The SHA-256 of a whole certificate in DER, by which some dialects know a peer.
///
/// It says the same as a `PeerID` only while the peer keeps its certificate: a new certificate of the same key has
/// another fingerprint. Like a key, a certificate is public, and only the handshake proves that the peer holds its key.
package struct CertificateFingerprint: Hashable, Sendable {
    /// Bytes in a fingerprint: a SHA-256.
    package static let byteCount = 32

    /// Exactly `byteCount` bytes.
    package let bytes: [UInt8]

    /// - Returns: nil unless `bytes` holds exactly `byteCount` bytes.
    package init?(bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits in either case.
    ///
    /// - Returns: nil for any other text.
    package init?(text: String) {
        let digits = Array(text.utf8.prefix(2 * Self.byteCount + 1))
        guard digits.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.value(of: digits[index]), let low = Self.value(of: digits[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    /// Of a certificate (`X509 *`, borrowed); nil only if OpenSSL has no SHA-256.
    init?(of certificate: OpaquePointer) {
        var digest = [UInt8](repeating: 0, count: Self.byteCount)
        guard X509_digest(certificate, EVP_sha256(), &digest, nil) == 1 else { return nil }
        bytes = digest
    }

    /// 64 hexadecimal digits in upper case.
    package var text: String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(
            decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 0xF)]] }, as: UTF8.self)
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension CertificateFingerprint: CustomStringConvertible {
    package var description: String { text }
}
