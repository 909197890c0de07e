import NIOCore

/// A look at a JSON text before it is parsed: whether parsing it would take more memory than any message is worth.
///
/// A parser takes memory for each value, however short: 24 MiB of `0,0,0,…` become several hundred megabytes. Depth is
/// counted too: parsers recurse. Whether the text is JSON at all is left to the parser.
struct JSONBounds {
    /// Arrays and objects inside each other; the protocol's own documents have four.
    static let depth = 32
    /// Values and names of values: thirty-two for each item that an offer can have.
    static let values = 1 << 21

    private var depth = 0
    private var values = 1
    private var inString = false
    private var escaped = false

    static func allow(_ text: ByteBuffer) -> Bool {
        var bounds = JSONBounds()
        return bounds.allows(text)
    }

    /// - Parameter text: what comes next of the text.
    /// - Returns: whether all that has come is within bounds.
    mutating func allows(_ text: ByteBuffer) -> Bool {
        text.withUnsafeReadableBytes { bytes in
            for byte in bytes {
                if inString {
                    if escaped {
                        escaped = false
                    } else if byte == UInt8(ascii: "\\") {
                        escaped = true
                    } else if byte == UInt8(ascii: "\"") {
                        inString = false
                    }
                    continue
                }
                switch byte {
                case UInt8(ascii: "\""):
                    inString = true
                case UInt8(ascii: ","), UInt8(ascii: ":"):
                    values += 1
                case UInt8(ascii: "["), UInt8(ascii: "{"):
                    values += 1
                    depth += 1
                    if depth > Self.depth { return false }
                case UInt8(ascii: "]"), UInt8(ascii: "}"):
                    depth -= 1
                default:
                    continue
                }
                if values > Self.values { return false }
            }
            return true
        }
    }
}
