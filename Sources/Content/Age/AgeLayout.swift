/// Sizes of age files, which follow from the number of content bytes without any key.
package enum AgeLayout {
    /// Content bytes of each chunk but the last one.
    package static let chunkBytes = 65_536
    /// Bytes by which a chunk grows when it is sealed: its tag.
    package static let tagBytes = 16
    /// Bytes of each sealed chunk but the last one.
    package static let sealedChunkBytes = chunkBytes + tagBytes
    /// Bytes of the nonce between the header and the first chunk.
    package static let nonceBytes = 16

    /// Bytes before the first chunk of a file to `recipients` X25519 recipients: the header and the nonce.
    package static func headerBytes(recipients: Int) -> Int {
        let stanza = "-> X25519 ".utf8.count + 43 + 1 + 43 + 1
        return AgeHeader.versionLine.count + recipients * stanza + "--- ".utf8.count + 43 + 1 + nonceBytes
    }

    /// Bytes of the whole file.
    ///
    /// - Parameters:
    ///   - count: content bytes, not negative.
    ///   - headerBytes: bytes before the first chunk (`AgeSealer.header`, `AgeHeader.payloadOffset`), not negative.
    /// - Returns: `Int.max` if the number is larger.
    package static func sealedBytes(ofContents count: Int, headerBytes: Int) -> Int {
        // An empty file has one chunk, too.
        let chunks = max(1, count / chunkBytes + (count.isMultiple(of: chunkBytes) ? 0 : 1))
        let (sealed, isTooLarge) = count.addingReportingOverflow(chunks * tagBytes)
        let (whole, isStillTooLarge) = sealed.addingReportingOverflow(headerBytes)
        return isTooLarge || isStillTooLarge ? .max : whole
    }

    /// Content bytes of a file, from its size.
    ///
    /// - Parameters:
    ///   - size: bytes of the file.
    ///   - headerBytes: bytes before the first chunk.
    /// - Returns: nil if no complete file has this size.
    package static func contentBytes(ofFile size: Int, headerBytes: Int) -> Int? {
        guard headerBytes >= 0, size >= headerBytes else { return nil }
        let sealed = size - headerBytes
        let last = sealed % sealedChunkBytes
        let whole = sealed / sealedChunkBytes
        // Only the only chunk may be empty.
        guard last == 0 ? whole > 0 : last >= tagBytes + (whole > 0 ? 1 : 0) else { return nil }
        return sealed - (whole + (last == 0 ? 0 : 1)) * tagBytes
    }
}
