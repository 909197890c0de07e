extension Duration {
    /// Milliseconds, rounded up; saturates.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, isTooMuch) = seconds.multipliedReportingOverflow(by: 1_000)
        if isTooMuch { return seconds < 0 ? .min : .max }
        let rest = attoseconds / 1_000_000_000_000_000 + (attoseconds % 1_000_000_000_000_000 > 0 ? 1 : 0)
        let (sum, overflows) = milliseconds.addingReportingOverflow(rest)
        return overflows ? .max : sum
    }
}
