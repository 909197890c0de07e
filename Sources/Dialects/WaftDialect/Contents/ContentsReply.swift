import Digests
import NIOCore
import Sharing

/// Reads the receiver's answer to contents, which ends by itself.
final class ContentsReply: FrameSink {
    /// Why the receiver has ended the transfer; nil if it has taken everything.
    private(set) var fault: TransferError?
    private(set) var isComplete = false
    private var reader: ReceiptReader
    private var decoder: FrameDecoder
    private var textBytes = 0

    /// - Parameter offer: the offer of the transfer.
    init(to offer: Offer, digest: DigestAlgorithm) {
        reader = ReceiptReader(for: offer)
        decoder = FrameDecoder(digest: digest)
    }

    /// Whether the receiver takes no more contents. A frame that shows that it is alive is no answer.
    var hasBegun: Bool { fault != nil || textBytes > 0 || isComplete }

    func read(_ bytes: ByteBuffer) throws(TransferError) {
        try decoder.decode(bytes, into: self)
    }

    func receive(_ frame: Frame) throws(TransferError) {
        switch frame {
        case .cancel(let why) where !hasBegun: fault = why
        case .end where hasBegun && !isComplete: isComplete = true
        default: throw .malformed("an answer to contents that is none")
        }
    }

    func receive(data: UnsafeRawBufferPointer) throws(TransferError) {
        textBytes += data.count
        guard !isComplete, textBytes <= Limits.offerBytes else { throw .outOfBounds }
        try reader.read(ByteBuffer(bytes: data))
    }

    /// The receipt; nil if there is none beside a fault.
    func receipt() throws(TransferError) -> Receipt? {
        textBytes > 0 ? try reader.finish() : nil
    }
}
