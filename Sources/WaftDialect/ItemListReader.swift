import NIOCore
import Sharing

/// Reads a message with a list of items as its text comes, and parses some of them at a time.
///
/// Looks only at brackets, commas and the name of the list. The parser checks whether each part is the expected JSON:
/// it gets the bytes of the list in parts, and all others with an empty list in its place. A text without such a list
/// is parsed as a whole.
struct ItemListReader<Message: ItemizedMessage> {
    private enum Place {
        case before
        case inList
        case after
    }

    /// Bytes of a part, but for its last item.
    private static var partBytes: Int { 64 << 10 }

    /// The name of the list, a field of the message itself.
    private let name = JSONName.hash(of: "items")
    /// Maximum bytes outside the list, and of one item in it. A longer text is refused.
    private let frameLimit: Int

    /// How many parts of the list were parsed.
    private(set) var parts = 0

    private var bounds = JSONBounds()
    private var place = Place.before
    /// All but what stands between the list's brackets.
    private var frame = ByteBuffer()
    /// Items that have come since the last part.
    private var part = ByteBuffer()

    /// - Parameter frameLimit: maximum bytes outside the list, and of one item in it.
    init(frameLimit: Int = .max) {
        self.frameLimit = frameLimit
    }

    /// - Parameter text: what comes next.
    /// - Returns: items that are whole by now, after those that were returned before.
    /// - Throws: `protocolViolation`.
    mutating func read(_ text: ByteBuffer) throws(TransferFault) -> [Message.Item] {
        var items: [Message.Item] = []
        var start = text.readerIndex
        for (offset, byte) in text.readableBytesView.enumerated() {
            let here = text.readerIndex + offset
            guard let mark = try bounds.see(byte) else { continue }
            switch event(mark, byte, partBytes: part.readableBytes + here - start) {
            case nil: continue
            case .listBegins:
                frame.write(text, from: start, to: here + 1)
                place = .inList
            case .partEnds:
                part.write(text, from: start, to: here)
                let found = try parsePart()
                guard !found.isEmpty else { throw .notTheJSON }
                items += found
            case .listEnds:
                part.write(text, from: start, to: here)
                let last = try parsePart()
                // Nothing after a comma is no item; a list with nothing in it is one without items.
                guard !last.isEmpty || parts == 1 else { throw .notTheJSON }
                items += last
                place = .after
                frame.write(text, from: here, to: here + 1)
            }
            start = here + 1
        }
        if place == .inList {
            part.write(text, from: start, to: text.writerIndex)
        } else {
            frame.write(text, from: start, to: text.writerIndex)
        }
        try checkLength()
        return items
    }

    /// - Returns: the message; with items where `read` has returned none.
    /// - Throws: `protocolViolation`.
    func finish() throws(TransferFault) -> Message {
        guard place != .inList else { throw .notTheJSON }
        let message = try WaftDialect.decode(Message.self, from: frame)
        guard place == .before || message.items.isEmpty else { throw .malformed("two lists of items") }
        return message
    }

    private func checkLength() throws(TransferFault) {
        // A part ends with the first item that ends beyond `partBytes`.
        guard frame.readableBytes <= frameLimit, part.readableBytes - Self.partBytes <= frameLimit else {
            throw .outOfBounds
        }
    }

    private mutating func parsePart() throws(TransferFault) -> [Message.Item] {
        try checkLength()
        var list = ByteBuffer()
        list.reserveCapacity(part.readableBytes + 2)
        list.writeStaticString("[")
        list.writeBuffer(&part)
        list.writeStaticString("]")
        part.clear()
        parts += 1
        return try WaftDialect.parse([Message.Item].self, from: list)
    }

    private enum Event {
        /// With this bracket.
        case listBegins
        /// With this comma, which belongs to none.
        case partEnds
        /// With this bracket.
        case listEnds
    }

    /// - Parameters:
    ///   - mark: the mark that the bounds give the byte.
    ///   - partBytes: bytes received of the current part.
    private func event(_ mark: JSONBounds.Mark, _ byte: UInt8, partBytes: Int) -> Event? {
        switch (place, mark, bounds.depth) {
        case (.before, .opens, 2) where byte == UInt8(ascii: "[") && bounds.topName == name: .listBegins
        case (.inList, .comma, 2) where partBytes >= Self.partBytes: .partEnds
        // A bracket of either kind: the parser checks it.
        case (.inList, .closes, 1): .listEnds
        default: nil
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func write(_ other: ByteBuffer, from start: Int, to end: Int) {
        writeImmutableBuffer(other.getSlice(at: start, length: end - start) ?? ByteBuffer())
    }
}
