import Endpoints
import Inbox
import Journal
import Settings
import Sharing

/// A finding, in words.
enum FindingText {
    static func head(_ entry: JournalEntry) -> String {
        "\(entry.arrival.number)  \(TerminalText.escaped(entry.arrival.stored.name.text))"
    }

    static func line(_ entry: JournalEntry, _ finding: ItemFinding) -> String {
        "\(head(entry)): \(words(finding))"
    }

    private static func words(_ finding: ItemFinding) -> String {
        let detail = finding.detail.isEmpty ? "" : "; \(TerminalText.escaped(finding.detail, limit: 400))"
        switch finding.state {
        case .ok: return "ok"
        case .missing: return "missing: another program moved or deleted it"
        case .unreadable: return "unreadable\(detail)"
        case .changed:
            let differences = finding.differences.map(\.rawValue).joined(separator: ", ")
            let how = finding.differences.contains(.kind) ? "" : touched(finding)
            return "changed: \(differences)\(detail)\(how)"
        }
    }

    private static func touched(_ finding: ItemFinding) -> String {
        guard let touched = finding.touched else { return "" }
        return "; last touched \(JournalText.time(WallTime(milliseconds: touched.seconds &* 1_000)))"
    }

    /// - Parameter count: of the good items that were compared by a checksum only.
    static func summed(_ count: Int) -> String {
        "  compared by a checksum only: \(count) (of an older Waft, or locked): that finds faults, not forgery"
    }

    /// - Parameter locked: items among the good ones of which only the sealed form was compared.
    static func summary(_ counts: [ItemFinding.State: Int], locked: Int = 0) -> String {
        let parts = [ItemFinding.State.ok, .changed, .missing, .unreadable].map { ($0.rawValue, counts[$0] ?? 0) }
        let shown = parts.filter { $0.0 == "ok" || $0.1 > 0 }.map { name, count in
            name == "ok" && locked > 0 ? "\(count) ok (\(locked) sealed)" : "\(count) \(name)"
        }
        return shown.joined(separator: ", ")
    }
}
