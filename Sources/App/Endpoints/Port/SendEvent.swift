package import Sharing

/// An event of a sending, for display.
package enum SendEvent: Sendable {
    /// The peer was found and its key is known; its name where it tells it.
    case connected(PeerID, name: String?)
    /// A line that the user should know before anything is sent.
    case remarked(String)
    case offered(Offer)
    case answered(Verdict)
    /// The receiver is busy and will get the same offer again. The reason is one line and may be empty.
    case busy(String, EndCause)
    /// Bytes of contents handed over, or there already, and of all accepted items (nil where not known). Never less than
    /// before.
    /// - Parameter moved: bytes that were sent, in all attempts.
    case progressed(UInt64, of: UInt64?, moved: UInt64)
    /// The transfer was interrupted for this reason, one line, and is being resumed.
    case resuming(String)
    /// The other side has everything and works on it.
    case settled
    /// All that was accepted is stored; handlers of the other side have not answered yet, and the sending waits for them.
    case handling
}
