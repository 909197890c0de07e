internal import COpenSSL
internal import Sharing

// The peer's identity and its checks: those of the engine itself, and those that OpenSSL's callbacks ask for.

extension TLSEngine {
    /// Checks the first two bytes before OpenSSL sees them: it recognizes other protocols reliably, and costs nothing.
    ///
    /// TLS begins with a record of type handshake, or for a client also alert, and major version 3 (RFC 8446, 5.1).
    func recognizeTLS() throws(TLSError) {
        while recognizedBytes < 2, let byte = bio.inboundByte(at: recognizedBytes) {
            let isTLS =
                recognizedBytes == 0
                ? byte == 0x16 || (byte == 0x15 && context.role == .client)
                : byte == 0x03
            guard isTLS else {
                let letters = UInt8(ascii: "A")...UInt8(ascii: "Z")
                throw fail(.notTLS(looksLikeText: recognizedBytes == 0 && letters.contains(byte)))
            }
            recognizedBytes += 1
        }
    }

    /// Decides about the peer's certificate (`X509 *`, borrowed): the key must be of an accepted kind and, if keys are
    /// expected, one of them. Names, dates and signatures in it mean nothing: the handshake proves the key.
    func accepts(certificate: OpaquePointer?, chainLength: Int) -> Bool {
        do throws(TLSError) {
            presentedPeer = try peer(of: certificate, chainLength: chainLength)
            return true
        } catch {
            refusal = error
            return false
        }
    }

    private func peer(of certificate: OpaquePointer?, chainLength: Int) throws(TLSError) -> PeerID {
        // Detects a server that ignores ALPN, before this client shows its own certificate.
        if context.role == .client, !context.profile.applicationProtocols.isEmpty, applicationProtocol == nil {
            throw .noCommonProtocol(context.profile.applicationProtocols)
        }
        guard chainLength <= context.limits.chainLength else {
            throw .certificateRefused("it comes with \(chainLength - 1) others, and none is needed")
        }
        guard let certificate, let der = subjectPublicKeyInfo(of: certificate) else {
            throw .certificateRefused("it holds no public key")
        }
        guard let kind = KeyKind(subjectPublicKeyInfo: der), context.profile.acceptedKeys.contains(kind) else {
            let accepted = context.profile.acceptedKeys.map(\.description).sorted().joined(separator: " or ")
            throw .certificateRefused("its key is not \(accepted)")
        }
        guard let peerID = PeerID(hashing: der) else {
            throw .setUpFailed("hashing the peer's key", reasons: QueuedError.drain().map(\.text))
        }
        if let expectedPeers, !expectedPeers.contains(peerID) { throw .unexpectedPeer(peerID) }
        return peerID
    }

    /// - Returns: the range of our first matching name in `offers` (names, each after a byte with its length).
    func selectProtocol(from offers: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        for name in context.profile.applicationProtocols {
            var index = 0
            while index < offers.count {
                let start = index + 1
                let end = start + Int(offers[index])
                guard end <= offers.count else { break }
                if offers[start..<end].elementsEqual(name.utf8) { return start..<end }
                index = end
            }
        }
        noteMissingProtocols()
        return nil
    }

    func noteMissingProtocols() { refusal = .noCommonProtocol(context.profile.applicationProtocols) }
}
