import Age
import Glibc
import Sharing
import SystemCalls

/// The keys that seal one item, and those that open its kept parts.
struct ItemSealing: Sendable {
    let recipients: [AgeRecipient]
    /// Those that are in memory.
    let keys: FileKeys
    /// The sealers of files that were cut.
    let kept: KeptSealers
    /// Of the class complete: it is received only while unlocked.
    let isComplete: Bool
    let isUnlocked: @Sendable () -> Bool

    /// An item of the class complete stops between two pieces of its contents when the lock comes, and is kept.
    /// - Throws: `stopping` while locked.
    func check() throws(TransferError) {
        guard !isComplete || isUnlocked() else {
            throw TransferError(.stopping, "the receiver is locked", cause: .rule)
        }
    }

    /// A sealer for one file.
    /// - Throws: `EIO` if libcrypto cannot seal.
    func makeSealer() throws(SystemError) -> AgeSealer {
        do {
            return try AgeSealer(to: recipients)
        } catch {
            throw SystemError(EIO)
        }
    }

    /// A small file whose contents are whole, sealed.
    ///
    /// - Parameter contents: `AgeLayout.chunkBytes` at most.
    /// - Throws: `EIO` if libcrypto cannot seal.
    func file(of contents: [UInt8]) throws(SystemError) -> [UInt8] {
        let file = contents.withUnsafeBytes { contents in
            Result { () throws(AgeError) in try AgeSealer.file(of: contents, to: recipients) }
        }
        guard case .success(let file) = file else { throw SystemError(EIO) }
        return file
    }

    /// Bytes of a sealed file.
    func bytes(ofContents count: UInt64) -> UInt64 {
        UInt64(
            AgeLayout.sealedBytes(
                ofContents: Int(clamping: count), headerBytes: AgeLayout.headerBytes(recipients: recipients.count)))
    }
}
