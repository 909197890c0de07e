import Subprocess

/// Variables from the starter of this process (such as systemd) that are for this process alone.
enum StarterVariables {
    private static let names = [
        "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "MAINPID",
        "CREDENTIALS_DIRECTORY", "JOURNAL_STREAM", "INVOCATION_ID", "WAFT_SANDBOX_PLAN",
    ]

    /// The change of an environment that takes them away.
    static var removed: [Environment.Key: String?] {
        Dictionary(uniqueKeysWithValues: names.map { (Environment.Key(stringLiteral: $0), String?.none) })
    }
}
