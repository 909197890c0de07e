internal import COpenSSL
internal import Secrets

/// ChaCha20-Poly1305 (RFC 8439) with one key in one direction, without additional data.
///
/// The key is set once; each text sets only its nonce.
struct ChaCha20Poly1305: ~Copyable, @unchecked Sendable {
    static let keyBytes = 32
    static let tagBytes = 16

    /// The use of the key.
    enum Direction {
        case sealing
        case opening
    }

    /// A nonce as age has it: the number of a chunk, 11 bytes big-endian, and whether it is the last one.
    struct Nonce {
        var chunk: UInt64
        var isLast: Bool

        /// The nonce of a file key's wrapping: 12 zeros.
        static let zero = Nonce(chunk: 0, isLast: false)

        fileprivate func withBytes<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
            var bytes: (UInt32, UInt64) = (0, 0)
            return withUnsafeMutableBytes(of: &bytes) { whole in
                // Three zeros, eight bytes of the number, one of the flag.
                let bytes = UnsafeMutableRawBufferPointer(rebasing: whole[..<12])
                bytes.storeBytes(of: 0, toByteOffset: 0, as: UInt32.self)
                bytes.storeBytes(of: chunk.bigEndian, toByteOffset: 3, as: UInt64.self)
                bytes[11] = isLast ? 1 : 0
                return body(bytes.bindMemory(to: UInt8.self).baseAddress!)
            }
        }
    }

    /// `EVP_CIPHER_CTX *`, owned; wiped when it is freed.
    private let context: OpaquePointer
    private let direction: Direction

    /// - Parameter key: 32 bytes.
    init(_ direction: Direction, key: SecretBytes) throws(AgeError) {
        precondition(key.count == Self.keyBytes, "a key has 32 bytes")
        guard let context = EVP_CIPHER_CTX_new() else { throw .noCryptography("a cipher") }
        let result = key.withBytes { key in
            EVP_CipherInit_ex(
                context, EVP_chacha20_poly1305(), nil, key.bindMemory(to: UInt8.self).baseAddress, nil,
                direction == .sealing ? 1 : 0)
        }
        guard result == 1 else {
            EVP_CIPHER_CTX_free(context)
            throw .noCryptography("a cipher")
        }
        self.context = context
        self.direction = direction
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    /// Seals `text` into `room`: the ciphertext, and the tag of 16 bytes.
    ///
    /// Ends the program if libcrypto fails: with a key and room for the result it has no reason to.
    ///
    /// - Parameters:
    ///   - text: any bytes, fewer than 2^31.
    ///   - nonce: another one for each text.
    ///   - room: has room for `text.count` + 16 bytes, and does not overlap `text`.
    mutating func seal(_ text: UnsafeRawBufferPointer, _ nonce: Nonce, into room: UnsafeMutableRawPointer) {
        precondition(direction == .sealing, "this key opens")
        let isSealed =
            start(nonce) && pass(text, into: room) && end()
            && EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), room + text.count) == 1
        precondition(isSealed, "libcrypto seals")
    }

    /// Opens `sealed`, the ciphertext and its tag, into `room`.
    ///
    /// - Parameters:
    ///   - sealed: at least 16 bytes, fewer than 2^31.
    ///   - room: has room for `sealed.count` - 16 bytes, and does not overlap `sealed`.
    /// - Returns: whether the tag is right. If not, the bytes in `room` must not be used.
    mutating func open(_ sealed: UnsafeRawBufferPointer, _ nonce: Nonce, into room: UnsafeMutableRawPointer) -> Bool {
        precondition(direction == .opening, "this key seals")
        let text = UnsafeRawBufferPointer(rebasing: sealed.dropLast(Self.tagBytes))
        // libcrypto copies the tag from memory that its declaration says it may change.
        let tag = UnsafeMutableRawPointer(mutating: sealed.baseAddress! + text.count)
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        return start(nonce)
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), tag) == 1
            && pass(text, into: room) && end()
    }

    private func start(_ nonce: Nonce) -> Bool {
        nonce.withBytes { EVP_CipherInit_ex(context, nil, nil, nil, $0, -1) == 1 }
    }

    private func pass(_ text: UnsafeRawBufferPointer, into room: UnsafeMutableRawPointer) -> Bool {
        guard !text.isEmpty else { return true }
        var count: Int32 = 0
        let result = EVP_CipherUpdate(
            context, room.assumingMemoryBound(to: UInt8.self), &count,
            text.bindMemory(to: UInt8.self).baseAddress, Int32(text.count))
        return result == 1 && Int(count) == text.count
    }

    /// Ends a text; for an opened one, compares its tag.
    private func end() -> Bool {
        // No bytes are left: it is a stream cipher.
        var nothing: UInt8 = 0
        var count: Int32 = 0
        return EVP_CipherFinal_ex(context, &nothing, &count) == 1 && count == 0
    }
}
