/// Numbers of bytes in the form that users type.
package enum ByteCountText {
    /// Reads `500`, `500 bytes`, `1.5 GB`, `64KiB`: powers of 1,000, with `i` of 1,024; at most three decimals; in any
    /// case.
    /// - Throws: `ContactError` `unfit`.
    package static func read(_ text: String) throws(ContactError) -> UInt64 {
        let refusal = ContactError.unfit("\(text.quoted) is not a size such as 500 kB, 64 MiB or 1.5 GB")
        guard text.utf8.prefix(32).count < 32 else { throw refusal }
        let lowered = text.lowercased()
        let number = lowered.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = lowered.dropFirst(number.count).drop { $0 == " " }
        guard let scale = scale(String(unit)) else { throw refusal }
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let whole = Digits.number(parts[0]) else { throw refusal }
        let (bytes, overflow) = whole.multipliedReportingOverflow(by: scale)
        guard parts.count == 2 else {
            if overflow { throw refusal }
            return bytes
        }
        guard (1...3).contains(parts[1].count), let decimals = Digits.number(parts[1]) else { throw refusal }
        let thousandths = decimals * [100, 10, 1][parts[1].count - 1]
        let (sum, isTooLarge) = bytes.addingReportingOverflow(
            scale / 1_000 * thousandths + scale % 1_000 * thousandths / 1_000)
        if overflow || isTooLarge { throw refusal }
        return sum
    }

    /// The exact number in the largest unit that divides it: `20 GB`, `10 GiB`, `500 bytes`, which `read` can read.
    package static func text(_ bytes: UInt64) -> String {
        for unit in ["TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "kB"] {
            guard let scale = scale(unit.lowercased()), bytes > 0, bytes % scale == 0 else { continue }
            return "\(bytes / scale) \(unit)"
        }
        return bytes == 0 ? "0" : "\(bytes) bytes"
    }

    private static func scale(_ unit: String) -> UInt64? {
        switch unit {
        case "", "b", "byte", "bytes": 1
        case "k", "kb": 1_000
        case "m", "mb": 1_000_000
        case "g", "gb": 1_000_000_000
        case "t", "tb": 1_000_000_000_000
        case "ki", "kib": 1 << 10
        case "mi", "mib": 1 << 20
        case "gi", "gib": 1 << 30
        case "ti", "tib": 1 << 40
        default: nil
        }
    }
}

/// Reads ASCII digits only: no signs and no digits of other scripts, which `Int` would also read.
enum Digits {
    static func number(_ text: Substring) -> UInt64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return UInt64(text)
    }
}
