/// Why a `SecureStream` cannot go on.
package enum SecureStreamError: Error, Hashable, Sendable {
    /// The connection was cut off or broken, or the peer ended its stream where more was needed.
    case closed
    /// The peer sent nothing, or took nothing, for the allowed time.
    case silent
    /// `SecureStream.interrupt` was called. The thread has `TransportLimits.closeDeadline` to take leave of its peer.
    case interrupted
}
