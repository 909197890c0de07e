internal import Secrets
internal import Sharing

/// The values that every derivation of a pairing includes: both keys, the initiator, the purpose, and the TLS connection
/// itself.
struct PairingBinding: Sendable {
    let initiator: PeerID
    let responder: PeerID
    /// The bytes that TLS exports by `PairingPurpose.exporterLabel`.
    let exporter: [UInt8]
    var purpose: PairingPurpose = .contact

    private var parts: [[UInt8]] { [initiator.bytes, responder.bytes, exporter] }

    private var name: [UInt8] { Array(purpose.context.utf8) }

    private func label(_ use: String) -> [UInt8] { name + Array((" " + use).utf8) }

    // MARK: By comparing (Pairing, section 4)

    /// The commitment that the initiator sends.
    func commitment(to nonce: [UInt8]) throws(PairingError) -> [UInt8] {
        let text = SecretBytes(KeyDerivation.joined([label("commitment")] + parts + [nonce]))
        return try PairingError.mapping { () throws(SecretsError) in try KeyDerivation.sha256(text).revealed }
    }

    /// The values that both sides derive from both nonces.
    func comparison(initiatorNonce: [UInt8], responderNonce: [UInt8]) throws(PairingError) -> Comparison {
        let nonces = SecretBytes(KeyDerivation.joined([initiatorNonce, responderNonce]))
        func derive(_ use: String, _ count: Int) throws(PairingError) -> [UInt8] {
            let info = KeyDerivation.joined([label(use)] + parts)
            return try PairingError.mapping { () throws(SecretsError) in
                try KeyDerivation.hkdf(salt: name, secret: nonces, info: info, count: count).revealed
            }
        }
        return Comparison(
            shown: ShortString(try derive("short string", ShortString.byteCount)),
            agreement: try derive("agreement", KeyDerivation.hashBytes),
            initiatorConfirmation: try derive("confirmation of the initiator", KeyDerivation.hashBytes),
            responderConfirmation: try derive("confirmation of the responder", KeyDerivation.hashBytes))
    }

    // MARK: By a code (Pairing, section 5)

    /// The stretched code as a scalar.
    func scalar(of code: PairingCode) throws(PairingError) -> SecretBytes {
        let salt = KeyDerivation.joined([label("code"), initiator.bytes, responder.bytes])
        let stretched = try PairingError.mapping { () throws(SecretsError) in
            try KeyDerivation.scrypt(password: code.secret, salt: salt, workFactor: 14, count: 48)
        }
        return try P256().scalar(reducing: stretched)
    }

    /// This side of SPAKE2.
    func spake2(_ role: PairingRole, code: PairingCode) throws(PairingError) -> SPAKE2 {
        try SPAKE2(role == .initiator ? .a : .b, w: try scalar(of: code))
    }

    /// The proofs of both sides.
    func proofs(_ spake2: SPAKE2, share: [UInt8]) throws(PairingError) -> SPAKE2.Confirmations {
        try spake2.confirmations(
            share: share, identityA: initiator.bytes, identityB: responder.bytes,
            additionalData: KeyDerivation.joined([name, exporter]))
    }
}

/// The values that both sides of a pairing by comparison share once they know both nonces.
struct Comparison: Sendable {
    /// The string that the users compare.
    let shown: ShortString
    /// The responder's proof that it derived the same values.
    let agreement: [UInt8]
    let initiatorConfirmation: [UInt8]
    let responderConfirmation: [UInt8]

    /// The confirmation that a side sends.
    func confirmation(of role: PairingRole) -> [UInt8] {
        switch role {
        case .initiator: initiatorConfirmation
        case .responder: responderConfirmation
        }
    }
}
