package import Sharing

/// What a `TLSHandler` tells the handlers above it, as user inbound events.
package enum TLSEvent: Hashable, Sendable {
    /// The handshake is done, and the peer holds the key of this id. Plaintext comes after this event only.
    case handshakeCompleted(PeerID)
}

/// What tells a `TLSHandler`, as a user outbound event, that there is no time to drain: from now on closing takes
/// `TransportLimits.closeDeadline` in all.
struct TLSHurry: Sendable {}
