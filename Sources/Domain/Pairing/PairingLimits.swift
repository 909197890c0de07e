/// Every bound on what a stranger can make pairing hold, try or wait for, in one place (security rule 6).
package struct PairingLimits: Hashable, Sendable {
    /// Bytes of a message.
    package static let messageBytes = 1_024
    /// Longest that pairing mode stays open.
    package static let openness: Duration = .seconds(600)

    /// How long the programs may take before there is something to compare, or, with a code, in all.
    package var exchange: Duration = .seconds(15)
    /// How long the users may take to compare. Less than a connection may lie idle.
    package var comparing: Duration = .seconds(110)
    /// Failed tries in all after which strangers are locked out.
    package var failures = 10
    /// Failed tries of one peer after which this peer is locked out.
    package var failuresPerPeer = 5
    /// How long a failed try is remembered.
    package var memory: Duration = .seconds(3_600)
    /// How long a lock lasts.
    package var lock: Duration = .seconds(600)

    package init() {}
}
