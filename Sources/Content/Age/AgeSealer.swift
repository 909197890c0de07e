internal import COpenSSL
package import Secrets

/// Seals the contents of one file.
///
/// The file is `header`, and then all bytes that `seal` and `finish` pass to their callers, in order. Whole chunks of
/// 64 KiB are passed on at once. Up to one chunk more of contents stays in memory, since only the end of the contents
/// tells which chunk is the last one; it is on the heap, and wiped after use. It may stay there for any time: a transfer
/// that was cut goes on with the sealer that it had. The key of the chunks is nowhere else, and is wiped with the sealer;
/// the file key is not kept. Each chunk has a number of its own: a sealer never seals two texts with one nonce.
///
/// It has one owner and moves between threads with it.
package struct AgeSealer: ~Copyable, @unchecked Sendable {
    /// Chunks that are passed on together, at most.
    private static let maximumRun = 4

    /// The bytes before the first chunk: the header and the nonce.
    package let header: [UInt8]

    /// Opens the chunks of this file, and no other one (`AgeChunks`).
    package let chunkKey: SecretBytes
    private var cipher: ChaCha20Poly1305
    private var chunks: UInt64 = 0
    private var isOver = false

    /// The start of the next chunk; `AgeLayout.chunkBytes` of room from the first contents on.
    private var tail: UnsafeMutableRawBufferPointer?
    /// Content bytes that wait in memory for their chunk: at most `AgeLayout.chunkBytes`.
    package private(set) var tailBytes = 0
    /// Room for sealed chunks.
    private var sealed = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Makes a file key and seals it to `recipients`.
    ///
    /// - Parameter recipients: 1 to `AgeHeader.maximumStanzas`.
    package init(to recipients: [AgeRecipient]) throws(AgeError) {
        let start = try Start(to: recipients)
        header = start.header
        chunkKey = start.chunkKey
        cipher = start.cipher
    }

    /// A whole file whose contents are in memory: without the room that contents need that come in pieces.
    ///
    /// - Parameters:
    ///   - contents: `AgeLayout.chunkBytes` at most.
    ///   - recipients: as in `init`.
    package static func file(
        of contents: UnsafeRawBufferPointer, to recipients: [AgeRecipient]
    ) throws(AgeError) -> [UInt8] {
        precondition(contents.count <= AgeLayout.chunkBytes, "more than one chunk")
        let start = try Start(to: recipients)
        var file = start.header
        var cipher = start.cipher
        let offset = file.count
        file += repeatElement(0, count: contents.count + AgeLayout.tagBytes)
        file.withUnsafeMutableBytes { file in
            cipher.seal(contents, ChaCha20Poly1305.Nonce(chunk: 0, isLast: true), into: file.baseAddress! + offset)
        }
        return file
    }

    /// - Parameter key: a new one, which `stanzas` seal.
    init(_ key: FileKey, _ stanzas: [AgeStanza]) throws(AgeError) {
        let start = try Start(key, stanzas)
        header = start.header
        chunkKey = start.chunkKey
        cipher = start.cipher
    }

    /// The first bytes of a file, and the cipher of its chunks.
    private struct Start: ~Copyable {
        let header: [UInt8]
        let chunkKey: SecretBytes
        let cipher: ChaCha20Poly1305

        init(to recipients: [AgeRecipient]) throws(AgeError) {
            guard !recipients.isEmpty else { throw .malformed("there is no recipient") }
            guard recipients.count <= AgeHeader.maximumStanzas else { throw .unsupported("more than 64 recipients") }
            let key = FileKey.random()
            var stanzas: [AgeStanza] = []
            for recipient in recipients { stanzas.append(try recipient.stanza(for: key)) }
            try self.init(key, stanzas)
        }

        init(_ key: FileKey, _ stanzas: [AgeStanza]) throws(AgeError) {
            var header = AgeHeader.versionLine
            for stanza in stanzas { header += stanza.encoded }
            header += AgeHeader.codeMark
            let code = header.withUnsafeBytes { text in
                Result { () throws(AgeError) in try key.code(ofHeader: text) }
            }
            header.append(UInt8(ascii: " "))
            header += Base64.text(try code.get())
            header.append(UInt8(ascii: "\n"))
            let nonce = KeyDerivation.random(AgeLayout.nonceBytes)
            header += nonce
            let chunkKey = try key.chunkKey(nonce: nonce)
            self.cipher = try ChaCha20Poly1305(.sealing, key: chunkKey)
            self.chunkKey = chunkKey
            self.header = header
        }
    }

    deinit {
        if let tail {
            OPENSSL_cleanse(tail.baseAddress, tailBytes)
            tail.deallocate()
        }
        sealed.deallocate()
    }

    /// Content bytes in chunks that were passed on.
    package var contentBytes: Int { Int(chunks) * AgeLayout.chunkBytes - (isFinished ? missingBytes : 0) }
    /// Bytes of the file that were passed on, with the header.
    package var fileBytes: Int { header.count + contentBytes + Int(chunks) * AgeLayout.tagBytes }

    /// Whether the last chunk was passed on.
    package private(set) var isFinished = false
    /// Bytes by which the last chunk is shorter than the others.
    private var missingBytes = 0

    /// Whether more can be sealed: the file has not ended, and all its bytes were taken.
    package var isUsable: Bool { !isOver }

    /// Forgets the contents that wait for their chunk: the file goes on behind the chunks that were passed on.
    package mutating func forgetTail() {
        if let start = tail?.baseAddress { OPENSSL_cleanse(start, tailBytes) }
        tailBytes = 0
    }

    /// Seals the next contents.
    ///
    /// - Parameters:
    ///   - contents: any number of bytes; how the contents are cut into calls makes no difference.
    ///   - write: takes the next bytes of the file, valid during the call. It is not called if no chunk is full.
    /// - Throws: the error of `write`. The file is then lost: neither `seal` nor `finish` may be called again.
    package mutating func seal<Failure>(
        _ contents: UnsafeRawBufferPointer, into write: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(!isOver, "a sealer is used after its end")
        guard !contents.isEmpty else { return }
        var rest = contents
        if tailBytes > 0 {
            let count = min(AgeLayout.chunkBytes - tailBytes, rest.count)
            keep(UnsafeRawBufferPointer(rebasing: rest[..<count]))
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        // A chunk is known not to be the last one when a byte follows.
        guard !rest.isEmpty else { return }
        var run = 0
        var waiting = (tailBytes > 0 ? 1 : 0) + (rest.count - 1) / AgeLayout.chunkBytes
        reserve(chunks: waiting)
        while waiting > 0 {
            if tailBytes > 0 {
                sealTail(isLast: false, at: run)
            } else {
                sealChunk(UnsafeRawBufferPointer(rebasing: rest[..<AgeLayout.chunkBytes]), isLast: false, at: run)
                rest = UnsafeRawBufferPointer(rebasing: rest[AgeLayout.chunkBytes...])
            }
            run += 1
            waiting -= 1
            if run == Self.maximumRun || waiting == 0 {
                try pass(run * AgeLayout.sealedChunkBytes, into: write)
                run = 0
            }
        }
        keep(rest)
    }

    /// Seals the last chunk, which may be the only one and empty.
    ///
    /// - Throws: the error of `write`. The file is then lost.
    package mutating func finish<Failure>(
        into write: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        precondition(!isOver, "a sealer is used after its end")
        let count = tailBytes
        reserve(chunks: 1)
        sealTail(isLast: true, at: 0)
        try pass(count + AgeLayout.tagBytes, into: write)
        missingBytes = AgeLayout.chunkBytes - count
        isFinished = true
        isOver = true
    }

    // MARK: Chunks

    private mutating func sealTail(isLast: Bool, at place: Int) {
        // Without contents there is no tail yet.
        let text = UnsafeRawBufferPointer(start: tail?.baseAddress, count: tailBytes)
        sealChunk(text, isLast: isLast, at: place)
        if let start = tail?.baseAddress { OPENSSL_cleanse(start, tailBytes) }
        tailBytes = 0
    }

    private mutating func sealChunk(_ text: UnsafeRawBufferPointer, isLast: Bool, at place: Int) {
        cipher.seal(
            text, ChaCha20Poly1305.Nonce(chunk: chunks, isLast: isLast),
            into: sealed.baseAddress! + place * AgeLayout.sealedChunkBytes)
        chunks += 1
    }

    private mutating func pass<Failure>(
        _ count: Int, into write: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        // Until `write` has succeeded, the bytes of the file and the number of the next chunk may not fit together.
        isOver = true
        try write(UnsafeRawBufferPointer(rebasing: sealed[..<count]))
        isOver = false
    }

    /// Appends to the tail.
    private mutating func keep(_ contents: UnsafeRawBufferPointer) {
        let tail = tail ?? .allocate(byteCount: AgeLayout.chunkBytes, alignment: 16)
        self.tail = tail
        UnsafeMutableRawBufferPointer(rebasing: tail[tailBytes...]).copyMemory(from: contents)
        tailBytes += contents.count
    }

    /// Makes room for `chunks` sealed chunks, or for as many as are passed on together.
    private mutating func reserve(chunks: Int) {
        let count = min(chunks, Self.maximumRun) * AgeLayout.sealedChunkBytes
        guard sealed.count < count else { return }
        sealed.deallocate()
        sealed = .allocate(byteCount: count, alignment: 16)
    }
}
