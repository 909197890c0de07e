import NIOCore
import Sharing

/// Checks a JSON text before it is parsed: whether parsing would take too much memory, and whether another reader could
/// understand the text differently.
///
/// A parser takes memory for each value, however short: 24 MiB of `0,0,0,…` become several hundred megabytes. Depth is
/// counted too: parsers recurse. The parser also accepts texts that RFC 8259 forbids or leaves open: other encodings
/// than UTF-8, a byte order mark, a comma before a closing bracket, a name twice in one object. It checks all other
/// rules of the form itself.
struct JSONBounds {
    /// Arrays and objects inside each other; the protocol's own documents have four.
    static let depth = 32
    /// Values and names of values: thirty-two for each item that an offer can have.
    static let values = 1 << 21
    /// Names in one object: more than an annotation can have.
    static let names = 1 << 14

    /// A byte outside of strings that divides a text.
    enum Mark {
        /// A bracket of either kind.
        case opens
        case comma
        /// A bracket of either kind.
        case closes
    }

    /// How many arrays and objects are open.
    var depth: Int { open.count }

    /// The name of the current value in the outermost object, as `JSONName.hash`.
    var topName: UInt64? { open.first?.name }

    private var values = 1
    private var inString = false
    private var escaped = false
    private var afterComma = false
    private var open: [Container] = []
    /// Names of the objects that are open, the innermost object's last.
    private var seen: [UInt64] = []
    /// The name that is being read; nil in any other string.
    private var name: JSONName?

    private struct Container {
        var isObject: Bool
        /// Whether the next string is a name.
        var expectsName: Bool
        /// Where its names begin in `seen`.
        var start: Int
        /// Its last name; nil before the first, and after a comma.
        var name: UInt64?
        /// All its names, if there are more than `few`.
        var many: Set<UInt64> = []

        /// Up to this number, names are compared one by one.
        static let few = 32
    }

    /// - Throws: `protocolViolation`.
    static func check(_ text: ByteBuffer) throws(TransferFault) {
        var bounds = JSONBounds()
        try text.withUnsafeReadableBytes { (bytes) throws(TransferFault) in
            for byte in bytes { _ = try bounds.see(byte) }
        }
    }

    /// - Parameter byte: the next one of the text.
    /// - Returns: nil for a byte in a string, and for one that divides nothing.
    /// - Throws: `protocolViolation` if the text so far is out of bounds or not valid.
    mutating func see(_ byte: UInt8) throws(TransferFault) -> Mark? {
        guard inString else { return try seeOutside(byte) }
        try seeInString(byte)
        return nil
    }

    private mutating func seeInString(_ byte: UInt8) throws(TransferFault) {
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

    private mutating func seeOutside(_ byte: UInt8) throws(TransferFault) -> Mark? {
        let wasAfterComma = afterComma
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            return nil
        case UInt8(ascii: "\""):
            afterComma = false
            inString = true
            if open.last?.expectsName == true { name = JSONName() }
            return nil
        case UInt8(ascii: ","), UInt8(ascii: ":"):
            try count()
            afterComma = byte == UInt8(ascii: ",")
            if let last = open.indices.last {
                open[last].expectsName = open[last].isObject && afterComma
                if afterComma { open[last].name = nil }
            }
            return afterComma ? .comma : nil
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            try count()
            afterComma = false
            guard open.count < Self.depth else { throw .outOfBounds }
            let isObject = byte == UInt8(ascii: "{")
            open.append(Container(isObject: isObject, expectsName: isObject, start: seen.count))
            return .opens
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
            guard !wasAfterComma, let closed = open.popLast() else { throw .notTheJSON }
            seen.removeLast(seen.count - closed.start)
            return .closes
        case 0x21...0x7E:
            afterComma = false
            return nil
        default:
            // A byte order mark, or another encoding.
            throw .notTheJSON
        }
    }

    private mutating func count() throws(TransferFault) {
        values += 1
        if values > Self.values { throw .outOfBounds }
    }

    private mutating func add(_ name: UInt64) throws(TransferFault) {
        guard let last = open.indices.last else { return }
        let count = seen.count - open[last].start
        guard count < Self.names else { throw .outOfBounds }
        if count == Container.few { open[last].many = Set(seen[open[last].start...]) }
        let isNew =
            count < Container.few
            ? !seen[open[last].start...].contains(name) : open[last].many.insert(name).inserted
        guard isNew else { throw .malformed("the same name twice in one object") }
        seen.append(name)
        open[last].name = name
    }
}

/// Hashes a name in an object while it is read. Escapes do not change the hash.
struct JSONName {
    // FNV-1a. A message with two names of the same hash is refused: a collision harms only its sender.
    private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    private var isEscape = false
    /// Hexadecimal digits that are to come.
    private var digits = 0
    private var unit: UInt32 = 0
    /// The first half of a surrogate pair.
    private var high: UInt32?

    /// The hash of a name without escapes.
    static func hash(of name: String) -> UInt64 {
        var read = JSONName()
        for byte in name.utf8 { read.see(byte) }
        return read.hash
    }

    /// - Parameter byte: the next one between the quotation marks.
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

    /// A UTF-16 code unit of an escape.
    private mutating func take(_ unit: UInt32) {
        if let first = high, (0xDC00...0xDFFF).contains(unit) {
            high = nil
            return add(scalar: 0x10000 + (first - 0xD800) << 10 + (unit - 0xDC00))
        }
        high = (0xD800...0xDBFF).contains(unit) ? unit : nil
        // Half a pair alone is refused by the parser.
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
