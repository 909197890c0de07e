/// The state of a sending that is left to the daemon.
package enum JobState: String, Codable, Sendable, CaseIterable {
    /// Waits for its time, or for the peer.
    case waiting
    /// Being sent; after a crash: was being sent.
    case sending
    /// All items are stored (and opened, if requested), according to receipts.
    case done
    /// Given up.
    case failed
    case cancelled

    package var isFinal: Bool { self != .waiting && self != .sending }
}
