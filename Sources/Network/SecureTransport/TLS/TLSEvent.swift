package import Sharing

/// Events of a `TLSHandler` for the handlers above it, as user inbound events.
package enum TLSEvent: Hashable, Sendable {
    /// The handshake is done, and the peer holds the key of this id. Plaintext comes only after this event.
    case handshakeCompleted(PeerID)
}

/// Tells a `TLSHandler`, as a user outbound event, that there is no time to drain: from now on closing takes
/// `TransportLimits.closeDeadline` in all.
struct TLSHurry: Sendable {}
