package import Contacts
package import Sharing

/// What a running receiver tells whoever shows it.
package enum ReceiverEvent: Sendable {
    /// It can be reached.
    /// - Parameter visibility: who sees it now, which may change later.
    case ready(id: PeerID, name: String, port: Int, inbox: String, visibility: Visibility)
    case reception(Reception.Event)
}
