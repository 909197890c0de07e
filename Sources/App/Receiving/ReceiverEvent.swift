package import Contacts
package import Lines
package import Sharing

/// An event of a running receiver, for display.
package enum ReceiverEvent: Sendable {
    /// It can be reached.
    /// - Parameter visibility: the visibility at the start; it may change later.
    case ready(id: PeerID, name: String, port: Int, inbox: String, visibility: Visibility)
    case reception(Reception.Event)
    /// An entry of a transfer was left out or renamed.
    /// - Parameters:
    ///   - entry: as the sender calls it. Foreign text.
    ///   - reason: one clause.
    case remarked(Offer, from: PeerID, entry: String, reason: String)
    /// The settings were read again, and are in effect or not.
    case settings(SettingsLine)
    /// The receiver was locked or unlocked.
    case protection(LockLine)
}
