internal import COpenSSL
package import Secrets

/// Small age files that a passphrase opens, such as a file of identities.
package enum AgePassphraseFile {
    /// Bytes of a text, at most: one chunk.
    package static let maximumTextBytes = AgeLayout.chunkBytes
    /// Bytes of a file that is opened, at most.
    package static let maximumFileBytes = AgeHeader.maximumBytes + AgeLayout.nonceBytes + AgeLayout.sealedChunkBytes

    /// Seals `text`.
    ///
    /// - Parameters:
    ///   - text: at most `maximumTextBytes` bytes.
    ///   - passphrase: not empty.
    ///   - workFactor: the logarithm of scrypt's N, 1 to 30. For 18 it takes about a second and 256 MiB of memory.
    package static func seal(
        _ text: SecretBytes, passphrase: SecretBytes, workFactor: Int = 18
    ) throws(AgeError) -> [UInt8] {
        guard text.count <= maximumTextBytes else { throw .unsupported("a text of more than 64 KiB") }
        guard passphrase.count > 0 else { throw .unsupported("an empty passphrase") }
        let key = FileKey.random()
        let stanza = try PassphraseKey.stanza(for: key, passphrase, workFactor: workFactor)
        var sealer = try AgeSealer(key, [stanza])
        var file = sealer.header
        text.withBytes { text in sealer.seal(text) { file += $0 } }
        sealer.finish { file += $0 }
        return file
    }

    /// Opens a file that has only a passphrase.
    ///
    /// - Parameter maximumWorkFactor: larger ones are refused before anything is calculated. Each step more doubles time
    ///   and memory.
    /// - Throws: `noMatch` if the passphrase is wrong; `unsupported` for a larger work factor or a larger file.
    package static func open(
        _ file: [UInt8], passphrase: SecretBytes, maximumWorkFactor: Int = 20
    ) throws(AgeError) -> SecretBytes {
        guard file.count <= maximumFileBytes else { throw .unsupported("a file of more than 64 KiB") }
        let header = try AgeHeader(parsing: file)
        let key = FileKey(
            bytes: try header.fileKey(passphrase: passphrase, maximumWorkFactor: maximumWorkFactor))
        guard file.count >= header.payloadOffset + AgeLayout.tagBytes else { throw .truncated }
        let nonce = Array(file[header.length..<header.payloadOffset])
        var cipher = try ChaCha20Poly1305(.opening, key: try key.chunkKey(nonce: nonce))
        let chunk = file[header.payloadOffset...]
        guard chunk.count <= AgeLayout.sealedChunkBytes else { throw .unsupported("a text of more than 64 KiB") }
        return try SecretBytes(count: chunk.count - AgeLayout.tagBytes) { (room) throws(AgeError) in
            let isOpen = chunk.withUnsafeBytes { chunk in
                cipher.open(chunk, ChaCha20Poly1305.Nonce(chunk: 0, isLast: true), into: room.baseAddress!)
            }
            guard isOpen else { throw .damaged }
        }
    }
}
