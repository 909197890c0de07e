package import Sharing

/// The two key pairs of a machine. Their names in files are `L` and `U`.
package enum IdentityRole: String, Sendable, CaseIterable {
    /// In memory while unlocked; wiped at each lock.
    case whileUnlocked = "L"
    /// In memory from the first unlock until the receiver ends, or locks everything.
    case sinceFirstUnlock = "U"

    /// The key pair to which items of a class are sealed; nil for the class that is not sealed.
    package init?(_ protection: ProtectionClass) {
        switch protection {
        case .none: return nil
        case .untilFirstUnlock: self = .sinceFirstUnlock
        case .unlessOpen, .complete: self = .whileUnlocked
        }
    }
}
