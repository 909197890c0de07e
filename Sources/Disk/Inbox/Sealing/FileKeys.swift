package import Age
package import Secrets
package import Sharing

/// Finds the keys of sealed files.
package struct FileKeys: Sendable {
    private let find: @Sendable (AgeHeader) throws(SealedFileError) -> SecretBytes

    /// - Parameter find: returns the file key of a header; may block.
    package init(_ find: @escaping @Sendable (AgeHeader) throws(SealedFileError) -> SecretBytes) {
        self.find = find
    }

    package func key(of header: AgeHeader) throws(SealedFileError) -> SecretBytes { try find(header) }

    /// Opens the digests of a sealed item's contents.
    /// - Returns: nil while they are locked, and for damaged ones.
    package func contentDigests(of arrival: Arrival) -> ContentDigests? {
        guard let sealed = arrival.sealedContents else { return nil }
        return SealedText.open(sealed, self).flatMap(ContentDigests.init(sealedText:))
    }
}

/// A short text as a small age file.
enum SealedText {
    /// Bytes of the text, at most.
    private static let maximumBytes = 1_024

    static func seal(_ text: String, to recipients: [AgeRecipient]) throws(AgeError) -> [UInt8] {
        var text = text
        let file = text.withUTF8 { bytes in
            Result { () throws(AgeError) in try AgeSealer.file(of: UnsafeRawBufferPointer(bytes), to: recipients) }
        }
        return try file.get()
    }

    static func open(_ file: [UInt8], _ keys: FileKeys) -> String? {
        guard let header = try? AgeHeader(parsing: file), let key = try? keys.key(of: header),
            file.count >= header.payloadOffset + AgeLayout.tagBytes,
            file.count <= header.payloadOffset + AgeLayout.tagBytes + maximumBytes
        else { return nil }
        let nonce = Array(file[header.length..<header.payloadOffset])
        guard var chunks = try? AgeChunks(key: key, nonce: nonce) else { return nil }
        let count = file.count - header.payloadOffset - AgeLayout.tagBytes
        return file.withUnsafeBytes { file in
            withUnsafeTemporaryAllocation(byteCount: maximumBytes, alignment: 1) { room in
                let sealed = UnsafeRawBufferPointer(rebasing: file[header.payloadOffset...])
                guard let start = room.baseAddress, chunks.open(sealed, number: 0, isLast: true, into: start) else {
                    return nil
                }
                return String(decoding: room[..<count], as: UTF8.self)
            }
        }
    }
}
