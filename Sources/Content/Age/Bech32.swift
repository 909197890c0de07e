internal import Secrets

/// Bech32 (BIP 173) without its limit of length, the text form of age keys.
///
/// A text is a prefix, a `1`, and characters of five bits each, the last six of which are a checksum. The functions work
/// on raw memory, so that a secret key leaves no copies.
enum Bech32 {
    private static let digits = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let none: UInt8 = 255
    /// By lower-case ASCII character.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: none, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()
    private static let checksumDigits = 6

    private struct Checksum {
        private static let generators: [UInt32] = [
            0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3,
        ]
        private(set) var value: UInt32 = 1

        /// - Parameter prefix: lower-case ASCII.
        init(prefix: some Sequence<UInt8>) {
            for character in prefix { add(character >> 5) }
            add(0)
            for character in prefix { add(character & 31) }
        }

        mutating func add(_ digit: UInt8) {
            let top = value >> 25
            value = (value & 0x1ff_ffff) << 5 ^ UInt32(digit)
            for (bit, generator) in Self.generators.enumerated() where top >> UInt32(bit) & 1 == 1 {
                value ^= generator
            }
        }
    }

    /// Number of characters of `count` bytes behind `prefix`.
    static func length(prefix: StaticString, count: Int) -> Int {
        prefix.utf8CodeUnitCount + 1 + (count * 8 + 4) / 5 + checksumDigits
    }

    /// Writes the text of `bytes` into `room`, which has exactly its length.
    ///
    /// - Parameter prefix: ASCII, in one case, which the whole text gets.
    static func write(_ bytes: UnsafeRawBufferPointer, prefix: StaticString, into room: UnsafeMutableRawBufferPointer) {
        let prefix = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        let isUpperCase = prefix.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        var checksum = Checksum(prefix: prefix.map(lowerCase))
        room.copyBytes(from: prefix)
        room[prefix.count] = UInt8(ascii: "1")
        var end = prefix.count + 1

        func write(_ digit: UInt8) {
            let character = digits[Int(digit)]
            room[end] = isUpperCase && character >= UInt8(ascii: "a") ? character - 32 : character
            end += 1
        }

        var pending: UInt32 = 0
        var bits: UInt32 = 0
        func flush(_ digit: UInt32) {
            checksum.add(UInt8(digit & 31))
            write(UInt8(digit & 31))
        }
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 5 {
                bits -= 5
                flush(pending >> bits)
            }
        }
        if bits > 0 { flush(pending << (5 - bits)) }
        for _ in 0..<checksumDigits { checksum.add(0) }
        let sum = checksum.value ^ 1
        for index in 0..<UInt32(checksumDigits) { write(UInt8(sum >> (5 * (5 - index)) & 31)) }
        precondition(end == room.count, "a text has the length that was calculated")
    }

    /// Reads the bytes of `text` into `room`, which has exactly their number.
    ///
    /// - Parameter prefix: the one that the text must have, in its case.
    /// - Returns: whether `text` is the canonical text of that many bytes. If not, `room` has any content.
    static func read(
        _ text: UnsafeRawBufferPointer, prefix: StaticString, into room: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let prefix = UnsafeBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
        let isUpperCase = prefix.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard
            text.count == prefix.count + 1 + (room.count * 8 + 4) / 5 + checksumDigits,
            text.prefix(prefix.count).elementsEqual(prefix), text[prefix.count] == UInt8(ascii: "1")
        else { return false }
        var checksum = Checksum(prefix: prefix.map(lowerCase))
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        var end = 0
        let sumStart = text.count - checksumDigits
        for index in (prefix.count + 1)..<text.count {
            let character = text[index]
            let wrongCase = isUpperCase ? UInt8(ascii: "a")...UInt8(ascii: "z") : UInt8(ascii: "A")...UInt8(ascii: "Z")
            guard !wrongCase.contains(character) else { return false }
            let value = values[Int(lowerCase(character))]
            guard value != none else { return false }
            checksum.add(value)
            guard index < sumStart else { continue }
            pending = pending << 5 | UInt32(value)
            bits += 5
            if bits >= 8 {
                bits -= 8
                room[end] = UInt8(truncatingIfNeeded: pending >> bits)
                end += 1
            }
        }
        return checksum.value == 1 && end == room.count && bits < 5 && pending & ((1 << bits) - 1) == 0
    }

    private static func lowerCase(_ character: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(character) ? character + 32 : character
    }
}
