internal import COpenSSL
internal import COpenSSLShims
package import NIOCore
package import Sharing

/// One TLS connection without I/O: it converts ciphertext to plaintext and plaintext to ciphertext.
///
/// It has no socket, clock, disk or task. The caller hands over bytes from the peer (`receive`, `endInput`), calls the
/// next step (`handshake`, `decrypt`), and sends the bytes of `takeOutbound`. Would-block is not an error: the engine
/// then answers that it needs more input. After an error every call repeats it.
///
/// ```
/// handshaking ──handshake() == true──▶ open ──decrypt() == .ended──▶ (peer has ended; writing goes on)
///      │                                │
///      └────────────any error───────────┴──▶ failed
/// ```
///
/// Not Sendable: it belongs to the event loop of its connection.
package final class TLSEngine {
    private enum State {
        case handshaking
        case open(PeerID)
        case failed(TLSError)
    }

    /// The role, the identity and the rules.
    package let context: TLSContext

    /// The only peers that this connection may have.
    let pin: PeerPin

    let bio: ByteBufferBIO

    /// `SSL *`, owned. It holds two references to the BIO's handle.
    let connection: OpaquePointer

    private var state = State.handshaking

    /// The error that a callback found: the reason behind the failure that OpenSSL then reports.
    var refusal: TLSError?

    /// The peer of the certificate that the callback accepted; the handshake then proves that it holds the key.
    var presented: Presented?

    struct Presented {
        let peerID: PeerID
        let certificate: CertificateFingerprint
    }

    /// Bytes at the beginning of the stream that were recognized as TLS. Two are enough.
    var recognizedBytes = 0

    private var inputHasEnded = false

    /// Bytes of TLS's own answers since the handshake: with a peer that never reads they could pile up.
    private var answeredBytes = 0

    private var hasSentCloseNotify = false

    /// Whether OpenSSL keeps its record buffer after it has delivered a record. If input may pause for long, OpenSSL
    /// frees it (34 KiB a connection). In the middle of a stream that would cost a new buffer for each record.
    private var keepsRecordBuffer = false {
        didSet {
            guard keepsRecordBuffer != oldValue else { return }
            let mode = Int(SSL_MODE_RELEASE_BUFFERS)
            if keepsRecordBuffer {
                COpenSSLShims_SSL_clear_mode(connection, mode)
            } else {
                COpenSSLShims_SSL_set_mode(connection, mode)
            }
        }
    }

    /// - Throws: `TLSError` (`setUpFailed`) if there is no memory.
    package init(context: TLSContext, pin: PeerPin = .any) throws(TLSError) {
        guard let bio = ByteBufferBIO(), let connection = SSL_new(context.handle) else {
            throw .setUpFailed("making a connection", reasons: QueuedError.drain().map(\.text))
        }
        self.context = context
        self.pin = pin
        self.bio = bio
        self.connection = connection
        // OpenSSL takes one reference for each direction; the BIO keeps its own.
        BIO_up_ref(bio.handle)
        BIO_up_ref(bio.handle)
        SSL_set0_rbio(connection, bio.handle)
        SSL_set0_wbio(connection, bio.handle)
        guard attach(to: connection) else {
            throw .setUpFailed("making a connection", reasons: QueuedError.drain().map(\.text))
        }
        switch context.role {
        case .client: SSL_set_connect_state(connection)
        case .server: SSL_set_accept_state(connection)
        }
    }

    deinit { SSL_free(connection) }

    // MARK: State of the connection

    /// The key that the peer proved to hold; nil until the handshake is done.
    package var peerID: PeerID? {
        guard case .open(let peerID) = state else { return nil }
        return peerID
    }

    /// The certificate whose key the peer proved to hold; nil until the handshake is done, and if it proved none.
    package var certificateFingerprint: CertificateFingerprint? { peerID == nil ? nil : presented?.certificate }

    /// The cipher suite in use, such as `TLS_AES_128_GCM_SHA256`.
    package var cipherSuite: String? {
        SSL_get_current_cipher(connection).flatMap { SSL_CIPHER_get_name($0) }.map { String(cString: $0) }
    }

    /// The application protocol that both sides agreed on.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(connection, &name, &count)
        guard let name, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }

    /// Whether the peer has sent its close_notify: no more data will come from it, and none is missing.
    package var peerHasClosed: Bool { SSL_get_shutdown(connection) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// Whether input waits for `decrypt`: ciphertext, or the error after it.
    package var hasUnreadInput: Bool { unreadPlaintextBound > 0 }

    /// Maximum of plaintext bytes that `decrypt` could return now; one if it would only throw.
    package var unreadPlaintextBound: Int {
        if case .failed = state { return 1 }
        // OpenSSL may also hold the beginning of one record.
        return bio.inboundBytes + (SSL_has_pending(connection) != 0 ? TransportLimits.recordBytes : 0)
    }

    // MARK: From the peer

    /// Hands over bytes that came from the peer. Bytes after its close_notify, or after an error, are dropped.
    package func receive(_ ciphertext: ByteBuffer) {
        if case .failed = state { return }
        if !peerHasClosed { bio.receive(ciphertext) }
    }

    /// Marks the end of the bytes from the peer.
    package func endInput() { inputHasEnded = true }

    /// Continues the handshake as far as the input allows.
    ///
    /// - Returns: whether it is done; `peerID` is then known.
    package func handshake() throws(TLSError) -> Bool {
        switch state {
        case .open: return true
        case .failed(let error): throw error
        case .handshaking: break
        }
        try recognizeTLS()
        ERR_clear_error()
        let result = SSL_do_handshake(connection)
        guard result == 1 else {
            guard SSL_get_error(connection, result) == SSL_ERROR_WANT_READ else { throw fail(handshakeError()) }
            if inputHasEnded { throw fail(.closedInHandshake) }
            return false
        }
        guard let peerID = presented?.peerID ?? unprovenPeer else { throw fail(.noCertificate) }
        state = .open(peerID)
        return true
    }

    /// A new id for a peer that has proved no key; nil if it must prove one.
    private var unprovenPeer: PeerID? {
        switch context.profile.proof {
        case .key: nil
        case .nothing(let dialect), .ifOffered(let dialect): pin.isStrict ? nil : .unproven(dialect)
        }
    }

    /// The state after the plaintext that `decrypt` wrote.
    package enum Decrypted: Equatable {
        /// All input is decrypted.
        case needsInput
        /// The buffer has no more room.
        case full
        /// The peer's close_notify: the stream has ended properly.
        case ended
    }

    /// Decrypts into the free room of `plaintext`, without enlarging it.
    ///
    /// Data before an error is delivered first; the next call throws the error.
    ///
    /// - Throws: `TLSError`; `truncated` when the input has ended without the peer's close_notify.
    package func decrypt(into plaintext: inout ByteBuffer) throws(TLSError) -> Decrypted {
        switch state {
        case .handshaking: preconditionFailure("decrypting before the handshake is done")
        case .failed(let error): throw error
        case .open: break
        }
        var outcome = Result<Decrypted, TLSError>.success(.full)
        var total = 0
        let outboundBytes = bio.outbound.readableBytes
        keepsRecordBuffer = bio.inboundBytes > 2 * TransportLimits.recordBytes
        // Once for all records: a good record leaves no error, and looking for errors takes as long as a small record.
        ERR_clear_error()
        plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { room in
            while total < room.count {
                var count = 0
                let result = SSL_read_ex(connection, room.baseAddress! + total, room.count - total, &count)
                guard result == 1 else {
                    outcome = endOfDecryption(result)
                    break
                }
                total += count
            }
            return total
        }
        if outcome == .success(.ended) { bio.discardInbound() }
        answeredBytes += bio.outbound.readableBytes - outboundBytes
        if answeredBytes > TransportLimits.answerBytes { outcome = .failure(.tooManyAnswers) }
        switch outcome {
        case .success(let decrypted): return decrypted
        case .failure(let error):
            let error = fail(error)
            if total > 0 { return .full }
            throw error
        }
    }

    private func endOfDecryption(_ result: Int32) -> Result<Decrypted, TLSError> {
        switch SSL_get_error(connection, result) {
        case SSL_ERROR_WANT_READ: inputHasEnded ? .failure(.truncated) : .success(.needsInput)
        case SSL_ERROR_ZERO_RETURN: .success(.ended)
        default: .failure(error(from: QueuedError.drain()))
        }
    }

    // MARK: To the peer

    /// Sets the buffer for ciphertext. Enough room for the next data saves growing it.
    package func provideOutbound(_ buffer: ByteBuffer) {
        guard bio.outbound.readableBytes > 0 else {
            bio.outbound = buffer
            return
        }
        var buffer = buffer
        buffer.writeImmutableBuffer(bio.outbound)
        bio.outbound = buffer
    }

    /// Whether there is ciphertext to send.
    package var hasOutbound: Bool { bio.outbound.readableBytes > 0 }

    /// Takes the ciphertext that is ready. Send it also after an error: it may hold the alert with the reason.
    package func takeOutbound() -> ByteBuffer {
        defer { bio.outbound = ByteBuffer() }
        return bio.outbound
    }

    /// Maximum ciphertext bytes of `count` plaintext bytes: a record adds 22, and the engine may add an answer.
    package static func ciphertextBound(of count: Int) -> Int {
        count + (count / TransportLimits.recordBytes + 1) * 22 + 128
    }

    /// Encrypts all of `plaintext` into full records; the last may be partial.
    package func encrypt(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
        switch state {
        case .handshaking: preconditionFailure("encrypting before the handshake is done")
        case .failed(let error): throw error
        case .open: break
        }
        guard plaintext.count > 0 else { return }
        ERR_clear_error()
        var count = 0
        // The BIO takes everything, so this never writes only a part.
        var result: Int32 = 0
        bio.collecting(Self.ciphertextBound(of: plaintext.count)) {
            result = SSL_write_ex(connection, plaintext.baseAddress, plaintext.count, &count)
        }
        guard result == 1 else {
            throw fail(error(from: QueuedError.drain()))
        }
    }

    /// Encrypts the first `count` readable bytes of `bytes`, as `encrypt(_:)` does, and takes them out.
    func encrypt(_ count: Int, of bytes: inout ByteBuffer) throws(TLSError) {
        var failure: TLSError?
        bytes.readWithUnsafeReadableBytes { source in
            do throws(TLSError) {
                try encrypt(UnsafeRawBufferPointer(rebasing: source[..<count]))
            } catch {
                failure = error
            }
            return count
        }
        if let failure { throw failure }
    }

    /// Ends the stream to the peer with a close_notify. After it, encryption is impossible; decryption continues.
    package func closeOutbound() {
        guard case .open = state, !hasSentCloseNotify else { return }
        hasSentCloseNotify = true
        ERR_clear_error()
        _ = SSL_shutdown(connection)
        ERR_clear_error()
    }

    // MARK: Keys

    /// Maximum number of bytes in one export.
    package static let exportBytes = 255

    /// Derives a secret that only the two ends of this very connection know (RFC 5705, RFC 8446 section 7.5).
    ///
    /// - Parameter length: 1 to `exportBytes`.
    /// - Throws: `TLSError` before the handshake is done.
    package func exportKeyingMaterial(label: String, context: [UInt8], length: Int) throws(TLSError) -> [UInt8] {
        precondition((1...Self.exportBytes).contains(length), "a length that cannot be exported")
        guard case .open = state else { throw .setUpFailed("exporting keys", reasons: ["there is no handshake yet"]) }
        var secret = [UInt8](repeating: 0, count: length)
        ERR_clear_error()
        let result = SSL_export_keying_material(
            connection, &secret, length, label, label.utf8.count, context, context.count, 1)
        guard result == 1 else {
            throw .setUpFailed("exporting keys", reasons: QueuedError.drain().map(\.text))
        }
        return secret
    }

    // MARK: Failure

    func fail(_ error: TLSError) -> TLSError {
        state = .failed(error)
        bio.discardInbound()
        return error
    }

    private func handshakeError() -> TLSError {
        let queued = QueuedError.drain()
        return refusal ?? error(from: queued)
    }
}
