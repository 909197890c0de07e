import Foundation
import NIOCore
import Sharing
import UniformTypes

// Messages with as many items as an offer, tens of thousands perhaps. An encoder or a decoder holds ten times the memory of
// what it is at: they get some items at a time.
extension WaftDialect {
    static func encode(_ offer: Offer) throws -> ByteBuffer {
        try encode(OfferMessage(frameOf: offer), offer.items.lazy.map(OfferMessage.Item.init))
    }

    static func encode(_ receipt: Receipt) throws -> ByteBuffer {
        try encode(ReceiptMessage(frameOf: receipt), receipt.items.lazy.map(ReceiptMessage.Item.init))
    }

    static func encode(_ fault: TransferFault, _ receipt: Receipt? = nil) throws -> ByteBuffer {
        let message = FaultMessage(
            fault: fault.code.rawValue, message: fault.message, receipt: receipt.map(ReceiptMessage.init(frameOf:)))
        guard let receipt else { return try encode(message) }
        return try encode(message, receipt.items.lazy.map(ReceiptMessage.Item.init))
    }

    /// - Parameter frame: a message with an empty list of items, in which these are put.
    private static func encode(
        _ frame: some Encodable, _ items: some Sequence<some Encodable>
    ) throws -> ByteBuffer {
        let encoder = encoder()
        let text = String(decoding: try encoder.encode(frame), as: UTF8.self)
        // Quotes inside of strings are escaped: these can only be the field's own.
        guard let place = text.range(of: "\"items\":[]") else { preconditionFailure("a message without items") }
        var body = ByteBuffer(substring: text[..<place.upperBound].dropLast())
        for (number, item) in items.enumerated() {
            if number > 0 { body.writeStaticString(",") }
            body.writeBytes(try encoder.encode(item))
        }
        body.writeStaticString("]")
        body.writeSubstring(text[place.upperBound...])
        return body
    }

    /// - Throws: `protocolViolation` or `unsafeName`, with what is wrong.
    static func offer(from body: ByteBuffer) throws(TransferFault) -> Offer {
        var items: [OfferedItem] = []
        // Tens of thousands of items have a few types: each is held once.
        var types: [String: UniformType] = [:]
        let message = try decode(OfferMessage.self, from: body) { item throws(TransferFault) in
            guard items.count < Limits.items else { throw .malformed("more than \(Limits.items) items") }
            items.append(try item.offered(&types))
        }
        return try message.offer(items)
    }

    /// - Parameter offer: the offer of the transfer.
    /// - Throws: `protocolViolation`.
    static func receipt(from body: ByteBuffer, for offer: Offer) throws(TransferFault) -> Receipt {
        var items: [ItemReceipt] = []
        items.reserveCapacity(offer.items.count)
        let message = try decode(ReceiptMessage.self, from: body) { item throws(TransferFault) in
            guard items.count < offer.items.count else { throw .malformed("a receipt of more than was offered") }
            items.append(try item.receipt())
        }
        return try message.receipt(items, for: offer)
    }

    /// - Parameter take: gets the items, in order.
    /// - Returns: the message without them.
    private static func decode<Message: ItemizedMessage>(
        _ type: Message.Type, from body: ByteBuffer, take: (Message.Item) throws(TransferFault) -> Void
    ) throws(TransferFault) -> Message {
        guard let text = ItemListText(in: body) else {
            // Written in another way than any peer of ours does, or not at all.
            let message = try decode(type, from: body)
            for item in message.items { try take(item) }
            return message
        }
        try checkBounds(of: body)
        let start = body.readerIndex
        var frame = ByteBuffer()
        frame.writeImmutableBuffer(body.getSlice(at: start, length: text.list.lowerBound) ?? ByteBuffer())
        let rest = body.readableBytes - text.list.upperBound
        frame.writeImmutableBuffer(body.getSlice(at: start + text.list.upperBound, length: rest) ?? ByteBuffer())
        let message = try decode(type, from: frame)
        guard message.items.isEmpty else { throw .malformed("two lists of items") }
        for part in text.parts {
            var list = ByteBuffer(string: "[")
            list.writeImmutableBuffer(body.getSlice(at: start + part.lowerBound, length: part.count) ?? ByteBuffer())
            list.writeStaticString("]")
            let items = try parse([Message.Item].self, from: list)
            // Nothing after a comma is no item; a list with nothing in it is one without items.
            guard !items.isEmpty || text.parts.count == 1 else { throw .malformed("not the JSON that was expected") }
            for item in items { try take(item) }
        }
        return message
    }
}
