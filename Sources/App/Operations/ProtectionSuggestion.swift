import Glibc
import Inbox
package import Settings
package import Sharing

/// Suggests data protection to a user who has not set it up.
package enum ProtectionSuggestion {
    /// The use and the cost, each one line.
    package static let lines = [
        "what arrives is stored as it is; to seal it, so that it can be read only after an unlock: waft protection set-up",
        "that costs a passphrase at each unlock, and without the passphrase nobody can open what came",
    ]

    /// Whether it was not said yet, and there is a reason; then it counts as said.
    ///
    /// - Parameter protection: the class of the settings.
    package static func isNew(_ home: Home, _ protection: ProtectionClass) -> Bool {
        guard protection == .none, !isSetUp(home), (try? home.makeFolders()) != nil else { return false }
        // A mark that cannot be made would repeat it.
        let mark = open(
            home.state + "/protection-suggested", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard mark >= 0 else { return false }
        close(mark)
        return true
    }

    static func isSetUp(_ home: Home) -> Bool {
        (try? ItemKeys.areThere(in: home.protection)) ?? true
    }
}
