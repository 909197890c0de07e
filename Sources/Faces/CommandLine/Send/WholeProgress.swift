import Lines

/// A sending to several peers in one line, with the names of the peers that others wait for below it. Pure: a terminal draws it.
struct WholeProgress {
    private struct Course {
        /// Escaped.
        var name: String
        var bytes: UInt64 = 0
        var moved: UInt64 = 0
        /// Of the accepted items; nil if unknown, or before the answer.
        var total: UInt64?
        /// Whether it has accepted.
        var isReady = false
        var isAnswered = false
        var isOver = false

        var share: Double {
            if isOver { return 1 }
            return total.map { min(Double(bytes) / Double(max($0, 1)), 1) } ?? 0
        }
    }

    /// Names in a line.
    private static let named = 3

    private var courses: [String: Course] = [:]
    private let peers: Int
    private let canBegin: Bool
    private var line: ProgressLine?
    /// The total of the line. Another total needs a new line.
    private var total: UInt64?

    /// - Parameters:
    ///   - peers: how many are sent to.
    ///   - canBegin: whether the user can let those that have accepted begin.
    init(peers: Int, canBegin: Bool = false) { (self.peers, self.canBegin) = (peers, canBegin) }

    /// - Parameters:
    ///   - peer: as it was named.
    ///   - name: for people; escaped.
    mutating func asks(_ peer: String, _ name: String) { courses[peer] = Course(name: name) }

    mutating func moves(_ peer: String, _ bytes: UInt64, of total: UInt64?, moved: UInt64) {
        guard var course = courses[peer] else { return }
        (course.bytes, course.total, course.moved, course.isAnswered) = (bytes, total, moved, true)
        courses[peer] = course
    }

    /// The peer has accepted.
    mutating func accepts(_ peer: String) { courses[peer]?.isReady = true }

    mutating func ends(_ peer: String) { courses[peer]?.isOver = true }

    /// - Parameters:
    ///   - items: the item, or how many there are; escaped.
    ///   - width: columns of the terminal.
    mutating func lines(_ items: String, at now: ContinuousClock.Instant, width: Int) -> [String] {
        let answered = courses.values.filter(\.isAnswered)
        var lines: [String] = []
        if !answered.isEmpty {
            let total = answered.allSatisfy { $0.total != nil } ? answered.reduce(0) { $0 + ($1.total ?? 0) } : nil
            if line == nil || total != self.total {
                (line, self.total) = (ProgressLine("\(items) \(Glyph.arrow) \(peers) peers", total: total), total)
            }
            let bytes = answered.reduce(0) { $0 + ($1.isOver ? $1.total ?? $1.bytes : $1.bytes) }
            let moved = answered.reduce(0) { $0 + $1.moved }
            if let text = line?.text(bytes: bytes, moved: moved, at: now, width: width) { lines.append(text) }
        }
        let ready = courses.values.count(where: \.isReady)
        let isWaiting = answered.isEmpty && canBegin && ready > 1
        let others = [
            Self.list(
                isWaiting ? "\(ready) of \(peers) have answered; Enter begins without" : "waiting for the answer of",
                courses.values.filter { !$0.isReady && !$0.isAnswered && !$0.isOver }.map(\.name).sorted()),
            Self.list("behind:", behind),
        ].compactMap(\.self)
        if !others.isEmpty { lines.append(String(others.joined(separator: "; ").prefix(columns: width))) }
        return lines
    }

    /// Peers with less than half of the middle share, the smallest share first.
    private var behind: [String] {
        let shares = courses.values.filter { $0.isAnswered || $0.isOver }.map(\.share).sorted()
        guard shares.count > 1 else { return [] }
        let middle = shares[shares.count / 2]
        return courses.values.filter { $0.isAnswered && !$0.isOver && $0.share < middle / 2 }
            .sorted { ($0.share, $0.name) < ($1.share, $1.name) }.map { "\($0.name) \(Int($0.share * 100))%" }
    }

    private static func list(_ words: String, _ names: [String]) -> String? {
        guard !names.isEmpty else { return nil }
        let more = names.count > named ? " and \(names.count - named) more" : ""
        return "\(words) \(names.prefix(named).joined(separator: ", "))\(more)"
    }
}
