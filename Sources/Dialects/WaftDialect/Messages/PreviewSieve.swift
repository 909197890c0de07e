import NIOCore
import Sharing

/// Takes the previews out of an offer's text while it arrives, and puts `null` in their place.
///
/// A preview never fails an offer: the reader of the items does not see one. A value that is too long, or that nobody
/// wants, is dropped while it arrives and takes no memory.
struct PreviewSieve {
    /// Bytes of a value: 32 KiB in Base64, with its type and some escapes.
    static let valueBytes = 48 << 10
    /// Bytes of all values that are kept.
    static let allBytes = valueBytes * Limits.previews
    /// The hash of the name of the field.
    private static let field = JSONName.hash(of: "preview")

    /// The values that were taken out, by the number of their item; at most `valueBytes` each.
    private(set) var values: [Int: ByteBuffer] = [:]
    /// Bytes that this keeps.
    private(set) var heldBytes = 0

    /// Values of so many items are kept.
    private let items: Int
    /// The number of the current item; the first line is the message itself.
    private var item = -1
    private var depth = 0
    private var inString = false
    private var isEscaped = false
    /// The current name in the item's own object.
    private var name: JSONName?
    private var expectsName = false
    /// Whether the last name was that of the field.
    private var isField = false
    /// Whether the bytes belong to the value of the field.
    private var inValue = false
    /// The value as far as it has come; nil if it is dropped.
    private var value: ByteBuffer?

    /// - Parameter items: the number of the first items whose values are kept; 0 keeps none.
    init(items: Int) {
        self.items = items
    }

    /// - Parameter text: the next bytes.
    /// - Returns: the bytes without the values.
    mutating func sift(_ text: ByteBuffer) -> ByteBuffer {
        var sifted = ByteBuffer()
        text.withUnsafeReadableBytes { bytes in
            // The bytes from here on go to the same place.
            var start = bytes.startIndex
            for index in bytes.indices {
                let wasInValue = inValue
                see(bytes[index])
                guard inValue != wasInValue else { continue }
                // The colon stands before a value, and the byte that ends it behind it.
                let end = inValue ? index + 1 : index
                pass(bytes[start..<end], &sifted, isValue: wasInValue)
                start = end
                if inValue {
                    sifted.writeStaticString("null")
                    value = (0..<items).contains(item) && values[item] == nil ? ByteBuffer() : nil
                } else {
                    if let value { values[item] = value }
                    value = nil
                }
            }
            pass(bytes[start...], &sifted, isValue: inValue)
        }
        return sifted
    }

    private mutating func pass(_ bytes: Slice<UnsafeRawBufferPointer>, _ sifted: inout ByteBuffer, isValue: Bool) {
        guard isValue else {
            sifted.writeBytes(UnsafeRawBufferPointer(rebasing: bytes))
            return
        }
        guard let held = value?.readableBytes else { return }
        if held + bytes.count > Self.valueBytes {
            value = nil
            heldBytes -= held
        } else {
            value?.writeBytes(UnsafeRawBufferPointer(rebasing: bytes))
            heldBytes += bytes.count
        }
    }

    private mutating func see(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") {
            // A line ends everything, also in the middle of a value.
            value = nil
            (item, depth, inString, isEscaped) = (item + 1, 0, false, false)
            (name, expectsName, isField, inValue) = (nil, false, false, false)
        } else if inString {
            seeInString(byte)
        } else {
            seeOutside(byte)
        }
    }

    private mutating func seeInString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            inString = false
            if let name { isField = name.hash == Self.field }
            name = nil
            return
        }
        name?.see(byte)
    }

    private mutating func seeOutside(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""):
            inString = true
            if depth == 1, expectsName { name = JSONName() }
        case UInt8(ascii: ":"):
            if depth == 1, expectsName {
                expectsName = false
                inValue = isField && item >= 0
            }
        case UInt8(ascii: ","):
            if depth == 1 { endValue() }
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            if depth == 1 { expectsName = byte == UInt8(ascii: "{") }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth -= 1
            if depth == 0 { endValue() }
        default: break
        }
    }

    private mutating func endValue() {
        (inValue, isField, expectsName) = (false, false, depth == 1)
    }
}

extension JSONName {
    static func hash(of name: String) -> UInt64 {
        var hashed = JSONName()
        for byte in name.utf8 { hashed.see(byte) }
        return hashed.hash
    }
}
