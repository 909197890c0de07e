internal import Secrets

/// One side of SPAKE2 with P-256, SHA-256, HKDF and HMAC (RFC 9382): two sides verify that they share a short code. A
/// side without the code learns only whether its one guess was right.
struct SPAKE2: Sendable {
    /// The side: the points M and N and the keys of the confirmations depend on it.
    enum Side: Sendable {
        case a
        case b
    }

    /// M and N (RFC 9382, section 6): points whose logarithm is unknown.
    private static let blindA = "02886e2f97ace46e55ba9dd7242579f2993b64e16ef3dcab95afd497333d8fa12f"
    private static let blindB = "03d8bbd6c639c62937b04d997f38c3770719c629d7014d49a24b4f98baa1292b49"

    private let side: Side
    /// The stretched code, a scalar.
    private let w: SecretBytes
    /// This side's random scalar.
    private let secret: SecretBytes

    /// This side's public share (`pA` or `pB`), an uncompressed point.
    let share: [UInt8]

    /// - Parameters:
    ///   - w: the stretched code, a scalar (`P256.scalar(reducing:)`).
    ///   - secret: this side's random scalar; nil makes a new one. Only test vectors may give one.
    init(_ side: Side, w: SecretBytes, secret: SecretBytes? = nil) throws(PairingError) {
        let curve = try P256()
        self.side = side
        self.w = w
        let secret = if let secret { secret } else { try curve.randomScalar() }
        self.secret = secret
        let blind = try Self.blind(side, w, on: curve)
        let point = try curve.sum(try curve.generator(times: secret), blind)
        guard let share = try curve.encoded(point) else { throw .noCryptography("a share") }
        self.share = share.revealed
    }

    /// w times M for side A, w times N for side B.
    private static func blind(_ side: Side, _ w: SecretBytes, on curve: P256) throws(PairingError) -> P256.Point {
        guard
            let bytes = Hexadecimal.bytes(side == .a ? blindA : blindB, count: 33),
            let constant = try curve.point(bytes)
        else { throw .noCryptography("the points M and N") }
        return try curve.product(constant, times: w)
    }

    /// The two key confirmations. They are equal on both sides if the codes, the identities, the shares and the
    /// additional data are equal.
    struct Confirmations {
        /// `cA`
        let a: [UInt8]
        /// `cB`
        let b: [UInt8]
    }

    /// - Parameter share: the other side's share as received.
    /// - Throws: `PairingError` (`malformed`) if `share` is not an uncompressed point of the curve, or leads to no key.
    func confirmations(
        share other: [UInt8], identityA: [UInt8], identityB: [UInt8], additionalData: [UInt8]
    ) throws(PairingError) -> Confirmations {
        let curve = try P256()
        guard other.count == P256.pointBytes, other[0] == 4, let point = try curve.point(other) else {
            throw .malformed("its share is not a point of the curve")
        }
        let blind = try Self.blind(side == .a ? .b : .a, w, on: curve)
        // The cofactor is 1.
        let key = try curve.product(try curve.difference(point, blind), times: secret)
        guard let key = try curve.encoded(key) else { throw .malformed("its share leads to no key") }

        let transcript = transcript(other, key, identityA: identityA, identityB: identityB)
        // Ke || Ka: there is nothing to encrypt, so Ke is not used.
        return try PairingError.mapping { () throws(SecretsError) in
            let keys = try KeyDerivation.sha256(transcript)
            let confirmationKeys = try KeyDerivation.hkdf(
                salt: [], secret: keys[16..<32], info: Array("ConfirmationKeys".utf8) + additionalData, count: 32)
            return Confirmations(
                a: try KeyDerivation.hmac(key: confirmationKeys[0..<16], transcript),
                b: try KeyDerivation.hmac(key: confirmationKeys[16..<32], transcript))
        }
    }

    /// `TT` (RFC 9382, section 3.3): before each part its length (8 bytes, little-endian).
    private func transcript(
        _ other: [UInt8], _ key: SecretBytes, identityA: [UInt8], identityB: [UInt8]
    ) -> SecretBytes {
        let (shareA, shareB) = side == .a ? (share, other) : (other, share)
        let parts = [SecretBytes(identityA), SecretBytes(identityB), SecretBytes(shareA), SecretBytes(shareB), key, w]
        return SecretBytes(count: parts.reduce(0) { $0 + 8 + $1.count }) { room in
            var index = 0
            for part in parts {
                room.storeBytes(of: UInt64(part.count).littleEndian, toByteOffset: index, as: UInt64.self)
                index += 8
                part.withBytes { UnsafeMutableRawBufferPointer(rebasing: room[index...]).copyMemory(from: $0) }
                index += part.count
            }
        }
    }
}
