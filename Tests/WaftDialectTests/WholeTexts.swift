import NIOCore
import Sharing
import UniformTypes

@testable import WaftDialect

// Messages with items, from and to whole texts.
extension WaftDialect {
    /// - Parameter pieceBytes: how many bytes of it come at once.
    static func offer(from text: ByteBuffer, pieceBytes: Int = 100_000) throws(TransferError) -> Offer {
        var reader = OfferReader()
        for piece in pieces(of: text, pieceBytes) { try reader.read(piece) }
        return try reader.finish(.system)
    }

    static func receipt(
        from text: ByteBuffer, for offer: Offer, pieceBytes: Int = 100_000
    ) throws(TransferError) -> Receipt {
        var reader = ReceiptReader(for: offer)
        for piece in pieces(of: text, pieceBytes) { try reader.read(piece) }
        return try reader.finish()
    }

    static func encode(_ offer: Offer) throws -> ByteBuffer { try writer(offer).joined() }

    static func verdict(from text: ByteBuffer, on offer: Offer) throws(TransferError) -> Verdict {
        let (message, items) = try lines(of: VerdictMessage.self, in: text)
        return try message.verdict(items, on: offer)
    }

    static func encode(_ receipt: Receipt) throws -> ByteBuffer { try writer(receipt).joined() }

    private static func pieces(of text: ByteBuffer, _ bytes: Int) -> [ByteBuffer] {
        var (rest, pieces) = (text, [ByteBuffer]())
        while let piece = rest.readSlice(length: min(bytes, rest.readableBytes)), piece.readableBytes > 0 {
            pieces.append(piece)
        }
        return pieces
    }
}
