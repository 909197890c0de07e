import Foundation
import NIOCore
import Sharing
import UniformTypes

// Messages with as many items as an offer, tens of thousands perhaps: megabytes of text, and ten times the memory in an
// encoder or a decoder. They are read as they come and written as they leave, some items at a time.

/// Reads an offer.
struct OfferReader {
    private var list = ItemListReader<OfferMessage>(frameLimit: Limits.offerFrameBytes)
    private var items: [OfferedItem] = []
    /// Tens of thousands of items have a few types: each is held once.
    private var types: [String: UniformType] = [:]

    /// - Parameter text: what comes next.
    /// - Throws: `protocolViolation` or `unsafeName`, with what is wrong.
    mutating func read(_ text: ByteBuffer) throws(TransferFault) {
        try take(try list.read(text))
    }

    /// - Parameter registry: the types that are known here.
    /// - Throws: as `read`.
    consuming func finish(_ registry: TypeRegistry) throws(TransferFault) -> Offer {
        let message = try list.finish()
        try take(message.items)
        return try message.offer(items).checked(by: registry)
    }

    private mutating func take(_ more: [OfferMessage.Item]) throws(TransferFault) {
        for item in more {
            guard items.count < Limits.items else { throw .malformed("more than \(Limits.items) items") }
            items.append(try item.offered(&types))
        }
    }
}

/// Reads the receipt of a transfer.
struct ReceiptReader {
    private let offer: Offer
    private var list = ItemListReader<ReceiptMessage>()
    private var items: [ItemReceipt] = []
    private var pool = ReceiptPool()

    /// - Parameter offer: the offer of the transfer.
    init(for offer: Offer) {
        self.offer = offer
    }

    /// - Parameter text: what comes next.
    /// - Throws: `protocolViolation`.
    mutating func read(_ text: ByteBuffer) throws(TransferFault) {
        try take(try list.read(text))
    }

    /// - Throws: as `read`.
    consuming func finish() throws(TransferFault) -> Receipt {
        let message = try list.finish()
        try take(message.items)
        return try message.receipt(items, for: offer)
    }

    private mutating func take(_ more: [ReceiptMessage.Item]) throws(TransferFault) {
        if items.isEmpty, !more.isEmpty { items.reserveCapacity(offer.items.count) }
        for item in more {
            guard items.count < offer.items.count else { throw .malformed("a receipt of more than was offered") }
            items.append(pool.sharing(try item.receipt(for: offer.items[items.count])))
        }
    }
}

/// Writes a message with a list of items piece by piece.
struct ItemListWriter<Item, Text: Encodable> {
    /// Bytes of a piece, but for its last item.
    private static var pieceBytes: Int { 64 << 10 }

    private let encoder = WaftDialect.encoder()
    private let items: [Item]
    private let form: (Item) -> Text
    private let rest: Substring
    private var next = 0
    private var piece: ByteBuffer
    private var hasEnded = false

    /// - Parameters:
    ///   - frame: a message with an empty list of items, in which these are put.
    ///   - form: an item as the message has it.
    fileprivate init(_ frame: some Encodable, _ items: [Item], _ form: @escaping (Item) -> Text) throws {
        self.items = items
        self.form = form
        let text = String(decoding: try encoder.encode(frame), as: UTF8.self)
        // Quotes inside of strings are escaped: these can only be the field's own.
        guard let place = text.range(of: "\"items\":[]") else { preconditionFailure("a message without items") }
        piece = ByteBuffer(substring: text[..<place.upperBound].dropLast())
        rest = text[place.upperBound...]
    }

    /// - Returns: the next piece of the text, nil after the last.
    mutating func nextPiece() throws -> ByteBuffer? {
        guard !hasEnded else { return nil }
        while next < items.count, piece.readableBytes < Self.pieceBytes {
            if next > 0 { piece.writeStaticString(",") }
            piece.writeBytes(try encoder.encode(form(items[next])))
            next += 1
        }
        if next == items.count {
            piece.writeStaticString("]")
            piece.writeSubstring(rest)
            hasEnded = true
        }
        defer { piece = ByteBuffer() }
        return piece
    }

    /// The whole text, or what is left of it.
    consuming func joined() throws -> ByteBuffer {
        var text = ByteBuffer()
        while var piece = try nextPiece() { text.writeBuffer(&piece) }
        return text
    }
}

extension FaultMessage {
    fileprivate init(_ fault: TransferFault, _ receipt: Receipt? = nil) {
        self.init(
            fault: fault.code.rawValue, message: fault.message, receipt: receipt.map(ReceiptMessage.init(frameOf:)))
    }
}

extension WaftDialect {
    static func encode(_ fault: TransferFault) throws -> ByteBuffer { try encode(FaultMessage(fault)) }

    static func writer(_ offer: Offer) throws -> ItemListWriter<OfferedItem, OfferMessage.Item> {
        try ItemListWriter(OfferMessage(frameOf: offer), offer.items) { OfferMessage.Item($0) }
    }

    static func writer(_ receipt: Receipt) throws -> ItemListWriter<ItemReceipt, ReceiptMessage.Item> {
        try ItemListWriter(ReceiptMessage(frameOf: receipt), receipt.items) { ReceiptMessage.Item($0) }
    }

    static func writer(
        _ fault: TransferFault, _ receipt: Receipt
    ) throws -> ItemListWriter<ItemReceipt, ReceiptMessage.Item> {
        try ItemListWriter(FaultMessage(fault, receipt), receipt.items) { ReceiptMessage.Item($0) }
    }
}
