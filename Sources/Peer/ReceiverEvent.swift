package import Sharing

/// What a running receiver tells whoever shows it.
package enum ReceiverEvent: Sendable {
    /// It can be reached.
    case ready(id: PeerID, name: String, port: Int, inbox: String)
    case reception(Reception.Event)
}
