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

    /// The size of an offered item: `1.0 kB`, `about 1.0 kB` for a hint, or `size not known`.
    package static func text(of size: UInt64?, hint: UInt64?) -> String {
        if let size { return text(size) }
        return hint.map { "about " + text($0) } ?? "size not known"
    }

    /// The size of a whole offer.
    /// - Parameters:
    ///   - hinted: bytes of the items that have a hint in place of a size.
    ///   - isComplete: whether each item has a size or a hint.
    package static func total(_ known: UInt64, hinted: UInt64, isComplete: Bool) -> String {
        let (sum, overflow) = known.addingReportingOverflow(hinted)
        let total = text(overflow ? .max : sum)
        if !isComplete { return total + " or more" }
        return hinted > 0 ? "about " + total : total
    }
}
