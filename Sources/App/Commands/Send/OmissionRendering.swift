import Lines
import Sharing
import Synchronization

/// Shows what `waft send --skip-unreadable` leaves out.
final class OmissionRendering: Sendable {
    /// Lines for people; the rest is counted. Programs get all.
    private static let shown = 20

    private let json: Bool
    private let count = Mutex(0)

    init(json: Bool) {
        self.json = json
    }

    func show(_ fault: SourceError) {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if json {
            OutputOptions(json: true).show(SkippedLine(reason: fault.message), as: [])
        } else if number <= Self.shown {
            Console.shared.note("left out: \(TerminalText.escaped(fault.message, limit: 1_000))")
        }
    }

    /// All have been shown.
    func end() {
        let rest = count.withLock { $0 } - Self.shown
        if rest > 0, !json { Console.shared.note("left out: \(rest) more") }
    }
}
