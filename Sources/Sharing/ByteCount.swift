/// Bytes as people read them.
package enum ByteCount {
    /// `0 bytes`, `999 bytes`, `1.0 kB`, `4.3 GB`: powers of 1,000, one decimal.
    package static func text(_ count: UInt64) -> String {
        if count < 1_000 { return count == 1 ? "1 byte" : "\(count) bytes" }
        var value = Double(count) / 1_000
        for unit in ["kB", "MB", "GB", "TB", "PB"] {
            if value < 999.95 { return "\((value * 10).rounded() / 10) \(unit)" }
            value /= 1_000
        }
        return "\((value * 10).rounded() / 10) EB"
    }
}
