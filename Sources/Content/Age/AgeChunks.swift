package import Secrets

/// The sealed chunks of one age file, each opened by itself: for files that are not whole, and for parts of files.
package struct AgeChunks: ~Copyable, @unchecked Sendable {
    private var cipher: ChaCha20Poly1305

    /// - Parameters:
    ///   - key: the file key (`AgeHeader.fileKey(with:)`).
    ///   - nonce: the 16 bytes behind the header.
    package init(key: SecretBytes, nonce: [UInt8]) throws(AgeError) {
        try self.init(chunkKey: try FileKey(bytes: key).chunkKey(nonce: nonce))
    }

    /// - Parameter chunkKey: of the sealer of the file.
    package init(chunkKey: SecretBytes) throws(AgeError) {
        cipher = try ChaCha20Poly1305(.opening, key: chunkKey)
    }

    /// Opens one chunk.
    ///
    /// - Parameters:
    ///   - sealed: 16 to `AgeLayout.sealedChunkBytes` bytes.
    ///   - number: its place in the file, from 0.
    ///   - isLast: whether it ends the file.
    ///   - room: has room for `sealed.count` - 16 bytes.
    /// - Returns: whether the chunk is authentic in this place. If not, the bytes in `room` must not be used.
    package mutating func open(
        _ sealed: UnsafeRawBufferPointer, number: UInt64, isLast: Bool, into room: UnsafeMutableRawPointer
    ) -> Bool {
        guard (AgeLayout.tagBytes...AgeLayout.sealedChunkBytes).contains(sealed.count) else { return false }
        return cipher.open(sealed, ChaCha20Poly1305.Nonce(chunk: number, isLast: isLast), into: room)
    }
}
