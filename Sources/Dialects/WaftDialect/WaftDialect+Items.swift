import NIOCore
import Sharing
import UniformTypes

// Messages with items. The readers and writers process one item at a time.

/// Reads an offer.
struct OfferReader {
    private var lines = MessageLineReader<OfferMessage>()
    private var items: [OfferedItem] = []
    private var sieve: PreviewSieve

    /// - Parameter keepsPreviews: False drops all previews before they take memory.
    init(keepsPreviews: Bool = false) {
        sieve = PreviewSieve(items: keepsPreviews ? Limits.previews : 0)
    }

    /// - Parameter text: the next bytes.
    /// - Returns: the number of bytes that this keeps of them.
    /// - Throws: `protocolViolation` or `unsafeName`, with the reason.
    @discardableResult
    mutating func read(_ text: ByteBuffer) throws(TransferError) -> Int {
        let held = sieve.heldBytes
        let text = sieve.sift(text)
        for item in try lines.read(text) { try take(item) }
        return text.readableBytes + max(0, sieve.heldBytes - held)
    }

    /// - Parameter registry: the types known here.
    /// - Throws: the same errors as `read`.
    consuming func finish(_ registry: TypeRegistry) throws(TransferError) -> Offer {
        let (message, last) = try lines.finish()
        if let last { try take(last) }
        for (number, text) in sieve.values where items.indices.contains(number) {
            items[number].preview = OfferMessage.Preview.read(text)
        }
        return try message.offer(items).bounded().checked(by: registry)
    }

    private mutating func take(_ item: OfferMessage.Item) throws(TransferError) {
        guard items.count < Limits.items else { throw .malformed("more than \(Limits.items) items") }
        items.append(try item.offered)
    }
}

/// Reads the receipt of a transfer.
struct ReceiptReader {
    private let offer: Offer
    private var lines = MessageLineReader<ReceiptMessage>()
    private var items: [ItemReceipt] = []

    /// - Parameter offer: the offer of the transfer.
    init(for offer: Offer) {
        self.offer = offer
    }

    /// - Parameter text: the next bytes.
    /// - Throws: `protocolViolation`.
    mutating func read(_ text: ByteBuffer) throws(TransferError) {
        for item in try lines.read(text) { try take(item) }
    }

    /// - Throws: the same errors as `read`.
    consuming func finish() throws(TransferError) -> Receipt {
        let (message, last) = try lines.finish()
        if let last { try take(last) }
        return try message.receipt(items, for: offer)
    }

    private mutating func take(_ item: ReceiptMessage.Item) throws(TransferError) {
        guard items.count < offer.items.count else { throw .malformed("a receipt of more than was offered") }
        if items.isEmpty { items.reserveCapacity(offer.items.count) }
        items.append(try item.receipt)
    }
}

extension WaftDialect {
    /// The content type of a message that is followed by items.
    static let linesType = "application/x-ndjson"

    /// A complete message and its items.
    /// - Throws: `protocolViolation`.
    static func lines<Message: ListMessage>(
        of type: Message.Type, in body: ByteBuffer
    ) throws(TransferError) -> (message: Message, items: [Message.Item]) {
        var reader = MessageLineReader<Message>()
        var items = try reader.read(body)
        let (message, last) = try reader.finish()
        if let last { items.append(last) }
        return (message, items)
    }

    static func encode(_ fault: TransferError) throws -> ByteBuffer {
        try encode(
            FaultMessage(fault: fault.code.rawValue, message: fault.message, cause: fault.unusualCause?.rawValue))
    }

    static func encode(_ verdict: Verdict) throws -> ByteBuffer {
        let (message, items) = VerdictMessage.lines(verdict)
        return try MessageLineWriter(message, items) { $0 }.joined()
    }

    static func writer(_ offer: Offer) throws -> MessageLineWriter<OfferedItem, OfferMessage.Item> {
        try MessageLineWriter(OfferMessage(frameOf: offer), offer.items) { OfferMessage.Item($0) }
    }

    static func writer(_ receipt: Receipt) throws -> MessageLineWriter<ItemReceipt, ReceiptMessage.Item> {
        try MessageLineWriter(ReceiptMessage(transfer: receipt.transfer.text), receipt.items) {
            ReceiptMessage.Item($0)
        }
    }
}
