import Digests
import Groups
import NIOCore
import Sharing

/// The first byte of a frame of a group (Protocol, section 9.3). It has the header of all frames, `FrameHeader`.
enum GroupFrameType: UInt8 {
    case place = 0x20
    case digests = 0x21
    case beat = 0x22
    case out = 0x23
    case chainEnd = 0x24
    case trouble = 0x25
    case leaving = 0x26
    case block = 0x27
    case report = 0x28
}

enum GroupFrame {
    /// Digests in one frame. The member's bound on digests in advance is that of `GroupLimits.digestsAhead`.
    static let digests = 256
    /// Bytes of a peer in a place, without its addresses: link, peer id, token.
    static let neighbourBytes = 4 + PeerID.byteCount + 16
    /// Bytes of a place of the tail.
    static let shortestPlace = 4 + neighbourBytes
    /// Bytes of a place with all addresses, each of IPv6.
    static let longestPlace = shortestPlace + neighbourBytes + 2 + 1 + GroupLimits.addresses * 17

    static func malformed(_ what: String) -> TransferError {
        TransferError(.protocolViolation, "the messages of a group are malformed: \(what)")
    }
}

/// A message of the sender, as a member reads it.
struct SenderFrame: Equatable {
    var message: SenderMessage
    /// Those of the message `digests`; nil beside any other.
    var digests: BlockDigests?
}

/// The SHA-256 of some blocks, as the sender says. They are kept encoded: a block needs 32 bytes.
struct BlockDigests: Equatable {
    /// 1...`GroupFrame.digests` blocks.
    let blocks: Range<Int>
    private let bytes: ByteBuffer

    /// - Parameter bytes: 32 for each block.
    init(_ blocks: Range<Int>, _ bytes: ByteBuffer) { (self.blocks, self.bytes) = (blocks, bytes) }

    /// - Returns: nil for a block that is not one of `blocks`.
    func digest(of block: Int) -> Digest? {
        guard blocks.contains(block) else { return nil }
        let length = DigestAlgorithm.lasting.byteCount
        let start = bytes.readerIndex + (block - blocks.lowerBound) * length
        guard let part = bytes.getSlice(at: start, length: length) else { return nil }
        return try? Digest(.lasting, bytes: part.readableBytesView)
    }
}

/// A block that came from the previous, before it is compared with its digest.
struct StreamBlock: Equatable {
    var number: Int
    /// As many as the stream has in this block.
    var bytes: ByteBuffer
}

// Causes and troubles as bytes. The order is that of their tables in the protocol.

extension LeaveCause {
    /// The byte of the frame `out`.
    var code: UInt8 {
        switch self {
        case .cannotRelay: 1
        case .otherTerms: 2
        case .tooSmall: 3
        case .late: 4
        case .unreachable: 5
        case .wrongBlock: 6
        case .slow: 7
        case .gap: 8
        case .fault(.tooManyMessages): 9
        case .fault(.wrongCount): 10
        // The sender finds no other fault of a member.
        case .fault, .other: 0xFF
        }
    }

    /// - Parameter count: the number of blocks behind the byte; 0 if there is none.
    init(code: UInt8, count: Int) {
        self =
            switch code {
            case 1: .cannotRelay
            case 2: .otherTerms
            case 3: .tooSmall
            case 4: .late
            case 5: .unreachable
            case 6: .wrongBlock
            case 7: .slow
            case 8: .gap
            case 9: .fault(.tooManyMessages)
            case 10: .fault(.wrongCount(count))
            default: .other
            }
    }
}

extension Trouble {
    /// The byte of the frame `trouble`.
    var code: UInt8 {
        switch self {
        case .unreachable: 1
        case .broken: 2
        case .gap: 3
        case .wrong: 4
        }
    }

    /// - Returns: nil for an unknown byte.
    init?(code: UInt8) {
        switch code {
        case 1: self = .unreachable
        case 2: self = .broken
        case 3: self = .gap
        case 4: self = .wrong
        default: return nil
        }
    }
}
