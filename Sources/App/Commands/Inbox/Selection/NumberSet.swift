import Sharing

/// The numbers of `--numbers`: single ones and ranges, such as `1-50,60`.
struct NumberSet: Hashable, Sendable {
    private var ranges: [ClosedRange<Int64>] = []

    /// Maximum number of parts.
    private static let maximumParts = 1_000

    /// - Returns: nil for anything else, such as an empty part, `5-1` or `0`.
    init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= Self.maximumParts else { return nil }
        for part in parts {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            let numbers = ends.compactMap { ItemWord.number($0)?.value }
            guard (1...2).contains(ends.count), numbers.count == ends.count, let first = numbers.first,
                let last = numbers.last, first >= 1, first <= last
            else { return nil }
            ranges.append(first...last)
        }
    }

    func contains(_ number: Int64) -> Bool { ranges.contains { $0.contains(number) } }
}
