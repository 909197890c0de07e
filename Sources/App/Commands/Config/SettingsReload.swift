import Control

/// The answer of the running receiver to a change of its settings.
struct SettingsReload {
    /// Whether it uses the file as it is now.
    var isOK: Bool
    /// Escaped: why it does not.
    var reason = ""
    /// Settings that an option or a variable of the receiver overrides.
    var hidden: Set<String> = []
    /// Whether the settings are the reason: the receiver has found faults in them.
    var isOfSettings = false

    /// Lets the running receiver read its settings, and waits for that.
    /// - Returns: nil if none is running.
    /// - Throws: `CommandError`.
    static func ask() async throws(CommandError) -> SettingsReload? {
        switch try await Daemon.askIfRunning(.reloadSettings) {
        case nil: nil
        case .settings(let report):
            SettingsReload(
                isOK: report.faults.isEmpty,
                reason: TerminalText.escaped(report.faults.joined(separator: "; "), limit: 4_096),
                hidden: Set(report.overridden), isOfSettings: !report.faults.isEmpty)
        // A receiver that is older than the command line.
        case .some: SettingsReload(isOK: false, reason: "restart it to use the change")
        }
    }
}
