import NIOCore

/// Where the items of a message lie in its text, so that they can be parsed some at a time.
///
/// A look at brackets, strings and commas only. Whether each part is the JSON that was expected is left to the parser, which
/// gets every byte: those of the list in parts, all others with an empty list in its place.
struct ItemListText {
    /// The name of the list, a field of the message itself.
    private static let name = Array("items".utf8)
    /// Bytes of a part, but for its last item.
    private static let partBytes = 64 << 10

    /// What stands between the brackets.
    private(set) var list: Range<Int>
    /// The same, cut at commas between items. The commas are in none.
    private(set) var parts: [Range<Int>] = []

    /// - Returns: nil where there is no such list, or nobody could say where it ends.
    init?(in text: ByteBuffer) {
        guard let found = text.withUnsafeReadableBytes(Self.find) else { return nil }
        self = found
    }

    private init(from start: Int) { list = start..<start }

    private static func find(in bytes: UnsafeRawBufferPointer) -> ItemListText? {
        var found: ItemListText?
        var partStart = 0
        var depth = 0
        var stringStart: Int?
        var escaped = false
        // Whether the name, and then a colon, were the last that came outside of anything.
        var (isNamed, isNext) = (false, false)
        for (place, byte) in bytes.enumerated() {
            if let start = stringStart {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    stringStart = nil
                    isNamed = depth == 1 && bytes[start..<place].elementsEqual(name)
                }
                continue
            }
            let (wasNamed, wasNext) = (isNamed, isNext)
            (isNamed, isNext) = (false, false)
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"):
                (isNamed, isNext) = (wasNamed, wasNext)
            case UInt8(ascii: ":"):
                isNext = wasNamed
            case UInt8(ascii: "\""):
                stringStart = place + 1
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                depth += 1
                if found == nil, wasNext, byte == UInt8(ascii: "[") {
                    found = ItemListText(from: place + 1)
                    partStart = place + 1
                }
            case UInt8(ascii: ","):
                guard found != nil, depth == 2, place - partStart >= partBytes else { continue }
                found?.parts.append(partStart..<place)
                partStart = place + 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                guard var found, depth == 1 else { continue }
                guard byte == UInt8(ascii: "]") else { return nil }
                found.list = found.list.lowerBound..<place
                found.parts.append(partStart..<place)
                return found
            default:
                continue
            }
        }
        return nil
    }
}
