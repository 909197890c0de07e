import Age
import Control
import Protection
import Sharing

/// `waft protection` for programs. The private keys are in none of the lines.
struct ProtectionFields: FieldGroups {
    /// The keys.
    struct Keys: Encodable {
        /// Whether there are keys.
        var setUp: Bool
        var dropBox: Bool
        /// The public keys of others that open everything, too.
        var recoveryRecipients: [String]
        var recipientsPath: String
        /// The file of the private keys, if they are in one.
        var identityPath: String?
        var warnings: [String]?
    }

    /// How a receiver stands: of the lines `locked` and `unlocked` too.
    struct State: Encodable {
        /// The class of the settings.
        var protection: String
        var unlocked: Bool
        /// Whether a lock has begun that has not ended; nil if not.
        var locking: Bool?
        /// Whether items of the class until first unlock can be opened.
        var unlockedOnce: Bool
        /// The time of the last lock or unlock, or of the start; nil without a receiver.
        var protectionSince: String?
        /// Items that wait for the unlock.
        var waitingItems: Int?
        /// Where the private keys come from; nil without any.
        var keysFrom: String?
        /// Why the public keys cannot be used.
        var protectionFault: String?
        /// Why it is locked; nil while unlocked, and before the first lock.
        var reason: String?

        init(_ report: ProtectionReport) {
            (protection, unlocked, unlockedOnce) = (report.protection, report.isUnlocked, report.wasUnlocked)
            protectionSince = ISOTime.text(WallTime(milliseconds: report.since))
            (waitingItems, keysFrom, protectionFault) = (report.waitingItems, report.mode, report.fault)
            (reason, locking) = (report.reason, report.isLocking == true ? true : nil)
        }

        /// No receiver is running.
        init(_ protection: ProtectionClass, _ recipients: ProtectionRecipients?) {
            (self.protection, unlocked, unlockedOnce) = (protection.rawValue, false, false)
            keysFrom = recipients?.own?.keeper.rawValue
        }
    }

    var keys: Keys
    var state: State
    /// Whether a receiver runs.
    private var presence: [String: Bool]

    var groups: [any Encodable] { [keys, state, presence] }

    init(_ place: ProtectionPlace, _ recipients: ProtectionRecipients?, _ report: ProtectionReport?) {
        keys = Keys(
            setUp: recipients != nil, dropBox: recipients?.isDropBox ?? false,
            recoveryRecipients: recipients?.others.map(\.description) ?? [],
            recipientsPath: place.folder.recipientsPath,
            identityPath: place.folder.hasIdentities ? place.folder.identityPath : nil)
        state = report.map { State($0) } ?? State(place.protection, recipients)
        presence = ["daemon": report != nil]
    }
}
