/// The sending end of a link: of a member towards its next, or of the sender towards a head.
///
/// ```
/// dialling ─dialled─▶ open ─first report─▶ feeding ──a fault, its end──▶ over
///     │                └──a gap──▶ stuck ─its end──────────────────────▶
///     └──────────────── cannot dial ───────────────────────────────────▶
/// ```
struct Feed {
    private enum State {
        case dialling
        case open
        /// `sent`: the first block that has not been fed. `report`: the last one.
        case feeding(sent: Int, report: Report)
        /// The next needs a block that has left. The connection stays until the sender has decided.
        case stuck
        /// The caller's part has ended, and `trouble` has been reported.
        case over
    }

    let next: Place.Next
    /// When dialling must have succeeded.
    let dialEnd: ContinuousClock.Instant
    private var state = State.dialling
    private var idleReports: RateBound

    init(_ next: Place.Next, limits: GroupLimits, at now: ContinuousClock.Instant) {
        self.next = next
        dialEnd = now + limits.dial
        idleReports = RateBound(limits.idleReportsPerSecond)
    }

    var isDialling: Bool { if case .dialling = state { true } else { false } }

    var isOver: Bool { if case .over = state { true } else { false } }

    /// The last report; nil before the first.
    var report: Report? { if case .feeding(_, let report) = state { report } else { nil } }

    /// Blocks below this one are no longer needed here: the next and the next but one have them.
    var released: Int { report.map { min($0.has, $0.next) } ?? 0 }

    /// The named peer proved its key, and took the token.
    mutating func open() { if isDialling { state = .open } }

    mutating func end() { state = .over }

    /// Takes a report of the next.
    ///
    /// - Parameters:
    ///   - start: the oldest block that can be fed.
    ///   - blocks: of the whole stream.
    /// - Returns: the fault; nil if there is none. After `broken` the feed is over.
    mutating func take(
        _ report: Report, oldest start: Int, blocks: Int, at now: ContinuousClock.Instant
    ) -> Trouble? {
        guard let trouble = fault(of: report, oldest: start, blocks: blocks, at: now) else { return nil }
        state = trouble == .gap ? .stuck : .over
        return trouble
    }

    private mutating func fault(
        of report: Report, oldest start: Int, blocks: Int, at now: ContinuousClock.Instant
    ) -> Trouble? {
        guard (0...blocks).contains(report.has), (0...blocks).contains(report.next) else { return .broken }
        switch state {
        case .dialling:
            return .broken
        case .open:
            if report.has < start { return .gap }
            state = .feeding(sent: report.has, report: report)
        case .feeding(let sent, let before):
            guard before.has <= report.has, report.has <= sent else { return .broken }
            let saysMore = report.has > before.has || report.next > before.next
            if !saysMore, !idleReports.allows(at: now) { return .broken }
            state = .feeding(sent: sent, report: report)
        case .stuck, .over:
            break
        }
        return nil
    }

    /// The blocks to feed now.
    ///
    /// - Parameters:
    ///   - has: blocks that can be fed.
    ///   - ahead: blocks that may be under way to the next.
    mutating func pass(below has: Int, ahead: Int) -> Range<Int>? {
        guard case .feeding(let sent, let report) = state else { return nil }
        let end = min(has, report.has + ahead)
        guard sent < end else { return nil }
        state = .feeding(sent: end, report: report)
        return sent..<end
    }
}
