import NIOCore
import Sharing

/// Reads a message with a list of items as its text comes, and parses some of them at a time.
///
/// Looks at brackets, strings and commas only. Whether each part is the JSON that was expected is left to the parser, which
/// gets every byte: those of the list in parts, all others with an empty list in its place. A text without such a list is
/// parsed as a whole.
struct ItemListReader<Message: ItemizedMessage> {
    private enum Place {
        case before
        case inList
        case after
    }

    /// The name of the list, a field of the message itself.
    private static var name: StaticString { "items" }
    /// Bytes of a part, but for its last item.
    private static var partBytes: Int { 64 << 10 }

    /// Bytes outside the list, and of one item in it, beyond which the text is no message of this kind.
    private let frameLimit: Int

    /// How many parts of the list were parsed.
    private(set) var parts = 0

    private var bounds = JSONBounds()
    private var place = Place.before
    /// All but what stands between the list's brackets.
    private var frame = ByteBuffer()
    /// Items that have come since the last part.
    private var part = ByteBuffer()
    private var depth = 0
    private var inString = false
    private var escaped = false
    /// How much of the name the string has been so far; nil where it is another.
    private var likeName: Int?
    // Whether the name, and then a colon, were the last that came outside of anything.
    private var isNamed = false
    private var isNext = false

    /// - Parameter frameLimit: bytes outside the list, and of one item in it.
    init(frameLimit: Int = .max) {
        self.frameLimit = frameLimit
    }

    /// - Parameter text: what comes next.
    /// - Returns: items that are whole by now, after those that were returned before.
    /// - Throws: `protocolViolation`.
    mutating func read(_ text: ByteBuffer) throws(TransferFault) -> [Message.Item] {
        try bounds.check(text)
        var items: [Message.Item] = []
        var start = text.readerIndex
        for (offset, byte) in text.readableBytesView.enumerated() {
            let here = text.readerIndex + offset
            guard let event = see(byte, partBytes: part.readableBytes + here - start) else { continue }
            switch event {
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

    // MARK: Byte by byte

    private enum Event {
        /// With this bracket.
        case listBegins
        /// With this comma, which belongs to none.
        case partEnds
        /// With this bracket.
        case listEnds
    }

    /// - Parameter partBytes: how many have come of the part.
    private mutating func see(_ byte: UInt8, partBytes: Int) -> Event? {
        if inString {
            seeInString(byte)
            return nil
        }
        let (wasNamed, wasNext) = (isNamed, isNext)
        (isNamed, isNext) = (false, false)
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
            (isNamed, isNext) = (wasNamed, wasNext)
        case UInt8(ascii: ":"):
            isNext = wasNamed
        case UInt8(ascii: "\""):
            inString = true
            likeName = 0
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            depth += 1
            if place == .before, wasNext, byte == UInt8(ascii: "[") { return .listBegins }
        case UInt8(ascii: ","):
            if place == .inList, depth == 2, partBytes >= Self.partBytes { return .partEnds }
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            depth -= 1
            // Of whichever kind it is: the parser gets it.
            if place == .inList, depth == 1 { return .listEnds }
        default:
            break
        }
        return nil
    }

    private mutating func seeInString(_ byte: UInt8) {
        if escaped {
            escaped = false
        } else if byte == UInt8(ascii: "\\") {
            escaped = true
            likeName = nil
        } else if byte == UInt8(ascii: "\"") {
            inString = false
            isNamed = depth == 1 && likeName == Self.name.utf8CodeUnitCount
        } else if let like = likeName {
            let isAlike = like < Self.name.utf8CodeUnitCount && Self.name.utf8Start[like] == byte
            likeName = isAlike ? like + 1 : nil
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func write(_ other: ByteBuffer, from start: Int, to end: Int) {
        writeImmutableBuffer(other.getSlice(at: start, length: end - start) ?? ByteBuffer())
    }
}
