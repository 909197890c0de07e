import NIOCore
import Sharing

/// Checks a JSON document before it is parsed: whether it is nested too deeply, and whether another reader could
/// understand it differently.
///
/// Parsers recurse. They also accept texts that RFC 8259 forbids or leaves open: other encodings than UTF-8, a byte
/// order mark, a comma before a closing bracket, a name twice in one object. The parser checks all other rules itself.
struct JSONBounds {
    /// Maximum depth of nested arrays and objects; the protocol's own documents have four levels.
    static let depth = 32

    private var inString = false
    private var escaped = false
    private var afterComma = false
    private var open: [Container] = []
    /// Names in the open objects, the innermost object's last.
    private var seen: [UInt64] = []
    /// The current name; nil inside any other string.
    private var name: JSONName?

    private struct Container {
        var isObject: Bool
        /// Whether the next string is a name.
        var expectsName: Bool
        /// Index of its first name in `seen`.
        var start: Int
        /// All its names, if there are more than `few`.
        var many: Set<UInt64> = []

        /// Maximum number of names to compare one by one.
        static let few = 32
    }

    /// - Throws: `protocolViolation`.
    static func check(_ text: ByteBuffer) throws(TransferError) {
        var bounds = JSONBounds()
        try text.withUnsafeReadableBytes { (bytes) throws(TransferError) in
            for byte in bytes { try bounds.see(byte) }
        }
    }

    /// - Parameter byte: the next byte of the text.
    /// - Throws: `protocolViolation` if the text so far is out of bounds or not valid.
    private mutating func see(_ byte: UInt8) throws(TransferError) {
        if inString { try seeInString(byte) } else { try seeOutside(byte) }
    }

    private mutating func seeInString(_ byte: UInt8) throws(TransferError) {
        // Control characters must be escaped. A NUL would be half a character of UTF-16.
        guard byte >= 0x20 else { throw .notTheJSON }
        if escaped {
            escaped = false
        } else if byte == UInt8(ascii: "\\") {
            escaped = true
        } else if byte == UInt8(ascii: "\"") {
            inString = false
            guard let hash = name?.hash else { return }
            name = nil
            return try add(hash)
        }
        name?.see(byte)
    }

    private mutating func seeOutside(_ byte: UInt8) throws(TransferError) {
        let wasAfterComma = afterComma
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            break
        case UInt8(ascii: "\""):
            afterComma = false
            inString = true
            if open.last?.expectsName == true { name = JSONName() }
        case UInt8(ascii: ","), UInt8(ascii: ":"):
            afterComma = byte == UInt8(ascii: ",")
            if let last = open.indices.last { open[last].expectsName = open[last].isObject && afterComma }
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            afterComma = false
            guard open.count < Self.depth else { throw .outOfBounds }
            let isObject = byte == UInt8(ascii: "{")
            open.append(Container(isObject: isObject, expectsName: isObject, start: seen.count))
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            guard !wasAfterComma, let closed = open.popLast() else { throw .notTheJSON }
            seen.removeLast(seen.count - closed.start)
        case 0x21...0x7E:
            afterComma = false
        default:
            // A byte order mark, or another encoding.
            throw .notTheJSON
        }
    }

    private mutating func add(_ name: UInt64) throws(TransferError) {
        guard let last = open.indices.last else { return }
        let count = seen.count - open[last].start
        if count == Container.few { open[last].many = Set(seen[open[last].start...]) }
        let isNew =
            count < Container.few
            ? !seen[open[last].start...].contains(name) : open[last].many.insert(name).inserted
        guard isNew else { throw .malformed("the same name twice in one object") }
        seen.append(name)
    }
}

/// Hashes a name in an object while it is read. Escapes do not change the hash.
struct JSONName {
    // FNV-1a. A message with two names of the same hash is refused: a collision harms only its sender.
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    private var isEscape = false
    /// Number of missing hexadecimal digits.
    private var digits = 0
    private var unit: UInt32 = 0
    /// The first half of a surrogate pair.
    private var high: UInt32?

    /// - Parameter byte: the next byte between the quotation marks.
    mutating func see(_ byte: UInt8) {
        if digits > 0 {
            unit = unit << 4 | UInt32(Self.value(byte))
            digits -= 1
            if digits == 0 { take(unit) }
        } else if isEscape {
            isEscape = false
            switch byte {
            case UInt8(ascii: "u"): (digits, unit) = (4, 0)
            case UInt8(ascii: "b"): take(0x08)
            case UInt8(ascii: "f"): take(0x0C)
            case UInt8(ascii: "n"): take(0x0A)
            case UInt8(ascii: "r"): take(0x0D)
            case UInt8(ascii: "t"): take(0x09)
            default: take(UInt32(byte))
            }
        } else if byte == UInt8(ascii: "\\") {
            isEscape = true
        } else {
            add(byte)
        }
    }

    /// Takes a UTF-16 code unit of an escape.
    private mutating func take(_ unit: UInt32) {
        if let first = high, (0xDC00...0xDFFF).contains(unit) {
            high = nil
            return add(scalar: 0x10000 + (first - 0xD800) << 10 + (unit - 0xDC00))
        }
        high = (0xD800...0xDBFF).contains(unit) ? unit : nil
        // The parser refuses half a pair.
        if high == nil { add(scalar: unit) }
    }

    private mutating func add(scalar: UInt32) {
        guard let scalar = Unicode.Scalar(scalar) else { return }
        for byte in String(scalar).utf8 { add(byte) }
    }

    private mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }

    private static func value(_ digit: UInt8) -> UInt8 {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        default: (digit | 0x20) &- UInt8(ascii: "a") &+ 10
        }
    }
}
