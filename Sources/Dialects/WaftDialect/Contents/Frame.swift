import Digests
import NIOCore
import Sharing

/// A frame of the contents, except data, which is never held (Protocol, section 4).
enum Frame: Equatable {
    case item(Int)
    case file(FileEntry)
    case folder(SafeRelativePath)
    case link(SafeRelativePath, target: SafeLinkTarget)
    case folderClosed(SafeRelativePath?, modified: Timestamp?)
    case fileEnd(Digest)
    case itemEnd(Digest)
    case itemAbandoned(Int, TransferError)
    case end
    case cancel(TransferError)
    /// With the digest of the sender's contents by `DigestAlgorithm.lasting`, or none for an item that a receipt says is
    /// stored.
    case present(Int, Digest?)
}

/// The first byte of a frame.
enum FrameType: UInt8 {
    case item = 0x01
    case file = 0x02
    case folder = 0x03
    case link = 0x04
    case folderClosed = 0x05
    case data = 0x06
    case fileEnd = 0x07
    case itemEnd = 0x08
    case itemAbandoned = 0x09
    case end = 0x0A
    case cancel = 0x0B
    case present = 0x0C

    /// The first type that a receiver may skip if it does not know it.
    static let firstOptional: UInt8 = 0x80
    /// Shows that the sender is alive while it compares; no payload.
    static let waiting: UInt8 = 0x80
}

/// The first byte of a field.
enum FieldTag: UInt8 {
    case path = 0x01
    case executable = 0x02
    case modified = 0x03
    case size = 0x04
    case target = 0x05
    case offset = 0x06
    case digest = 0x07
    case fault = 0x08
    case message = 0x09
    case cause = 0x0a
}

enum FrameHeader {
    /// Type, three zero bytes, length.
    static let byteCount = 8
    /// Maximum bytes of a `message` field.
    static let messageBytes = 1_024
}
