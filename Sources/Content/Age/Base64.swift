/// Base64 as age headers have it (RFC 4648, section 4): canonical, without padding.
enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let none: UInt8 = 255
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: none, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    static func text(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(digits[Int(pending >> bits & 63)])
            }
        }
        if bits > 0 { text.append(digits[Int(pending << (6 - bits) & 63)]) }
        return text
    }

    /// - Returns: nil for text with other characters, of an impossible length, or with spare bits that are not zero.
    static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for digit in text {
            let value = values[Int(digit)]
            guard value != none else { return nil }
            pending = pending << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
            }
        }
        guard bits < 6, pending & ((1 << bits) - 1) == 0 else { return nil }
        return bytes
    }
}
