import Foundation
import NIOCore
import Sharing

/// Reads a message of lines while its text arrives: the message on the first line, then one item on each line.
struct MessageLineReader<Message: ListMessage> {
    private var message: Message?
    /// The unfinished line.
    private var line = ByteBuffer()

    /// - Parameter text: the next bytes.
    /// - Returns: the items of the finished lines, in order.
    /// - Throws: `protocolViolation`.
    mutating func read(_ text: ByteBuffer) throws(TransferError) -> [Message.Item] {
        var (text, items) = (text, [Message.Item]())
        while let end = text.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
            line.writeImmutableBuffer(text.readSlice(length: end - text.readerIndex) ?? ByteBuffer())
            text.moveReaderIndex(forwardBy: 1)
            if let item = try endLine() { items.append(item) }
        }
        line.writeBuffer(&text)
        guard line.readableBytes <= Limits.messageBytes else { throw .outOfBounds }
        return items
    }

    /// - Returns: the message, and the last item if its line had no end.
    /// - Throws: `protocolViolation`.
    consuming func finish() throws(TransferError) -> (message: Message, last: Message.Item?) {
        let last = line.readableBytes > 0 ? try endLine() : nil
        guard let message else { throw .notTheJSON }
        return (message, last)
    }

    private mutating func endLine() throws(TransferError) -> Message.Item? {
        defer { line.clear() }
        guard message != nil else {
            message = try WaftDialect.decode(Message.self, from: line)
            return nil
        }
        return try WaftDialect.parse(Message.Item.self, from: line)
    }
}

/// Writes a message and its items, one on each line, in pieces.
struct MessageLineWriter<Item, Line: Encodable> {
    /// Bytes of a piece without its last line.
    private static var pieceBytes: Int { 64 << 10 }

    private let encoder = WaftDialect.encoder()
    private let form: (Item) -> Line
    private var items: ArraySlice<Item>
    private var piece: ByteBuffer

    /// - Parameter form: turns an item into its written form.
    init(_ message: some ListMessage, _ items: [Item], _ form: @escaping (Item) -> Line) throws {
        self.items = items[...]
        self.form = form
        piece = ByteBuffer(bytes: try encoder.encode(message))
        piece.writeStaticString("\n")
    }

    /// - Returns: the next piece of the text; nil after the last.
    mutating func nextPiece() throws -> ByteBuffer? {
        while piece.readableBytes < Self.pieceBytes, let item = items.popFirst() {
            piece.writeBytes(try encoder.encode(form(item)))
            piece.writeStaticString("\n")
        }
        defer { piece = ByteBuffer() }
        return piece.readableBytes > 0 ? piece : nil
    }

    /// The rest of the text.
    consuming func joined() throws -> ByteBuffer {
        var text = ByteBuffer()
        while var piece = try nextPiece() { text.writeBuffer(&piece) }
        return text
    }
}
