/// Every bound on the memory, tries and time that a stranger can use in pairing (security rule 6).
package struct PairingLimits: Hashable, Sendable {
    /// Bytes of a message.
    package static let messageBytes = 1_024
    /// Maximum time for which pairing mode stays open.
    package static let openness: Duration = .seconds(600)

    /// Maximum time until there is a string to compare; with a code, maximum time of the whole pairing.
    package var exchange: Duration = .seconds(15)
    /// Maximum time for the users to compare. Shorter than the idle limit of a connection.
    package var comparing: Duration = .seconds(110)
    /// Failed tries of all peers after which strangers are locked out.
    package var failures = 10
    /// Failed tries of one peer after which this peer is locked out.
    package var failuresPerPeer = 5
    /// Time for which a failed try is stored.
    package var memory: Duration = .seconds(3_600)
    /// Duration of a lock.
    package var lock: Duration = .seconds(600)

    package init() {}
}
