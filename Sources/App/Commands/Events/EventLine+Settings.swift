import Control

extension EventLine {
    /// A running receiver has read its settings again.
    struct SettingsState: Encodable {
        /// Whether it uses them; otherwise it keeps those that it had.
        var ok: Bool
        /// The settings with other values than before.
        var changedSettings: [String]?
        /// The first fault with its place, and the others.
        var reason: String?
        var others: [String]?

        init(_ report: SettingsReport) {
            ok = report.faults.isEmpty
            changedSettings = report.changed.isEmpty ? nil : report.changed
            reason = report.faults.first
            others = report.faults.count > 1 ? Array(report.faults.dropFirst()) : nil
        }
    }
}
