import Contacts
import Protection
import Settings
import Sharing

/// Compares the settings about data protection with the keys that are there.
enum ProtectionCheck {
    /// - Throws: `ReceiverError` `setting` if something is to be sealed and there are no keys that can be used: nothing
    ///   may arrive in the clear then.
    static func check(_ settings: Settings, _ home: Home) throws(ReceiverError) {
        let place: String
        if settings.protection.isSealed {
            place = "protection"
        } else if settings.policy.rules.contains(where: { $0.destination.protection?.isSealed == true }) {
            place = "policy"
        } else {
            return
        }
        do throws(VaultError) {
            guard try ProtectionFolder(path: home.protection).recipients() == nil else { return }
        } catch {
            throw ReceiverError(.setting, settings.line(about: place, error.description))
        }
        throw ReceiverError(
            .setting,
            settings.line(about: place, "data protection has no keys; make them first: waft protection set-up"))
    }
}
