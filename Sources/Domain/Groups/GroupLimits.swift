/// Every bound on the memory, counts and times of a group (security rule 6), and the times of its machine.
package struct GroupLimits: Hashable, Sendable {
    /// Bytes of a block; the last one of a stream may be short.
    package static let blockBytes = 64 << 10
    /// Members that make a chain worth its connections.
    package static let minimumMembers = 3
    /// Members of a group.
    package static let maximumMembers = 64
    /// Addresses of a member that the one before it tries.
    package static let addresses = 4
    /// The lowest port that a member dials: ports below it belong to services of the system.
    package static let minimumPort: UInt16 = 1_024
    /// Incoming connections that a member holds until it knows whether it expects them.
    package static let earlyArrivals = 4

    // MARK: Beginning

    /// A group begins so long after its last answer, if not all have answered.
    package var answerWait: Duration = .seconds(2)
    /// A group begins so long after its first yes at the latest.
    package var longestAnswerWait: Duration = .seconds(20)

    // MARK: Blocks

    /// Blocks from which a chain is worth its connections: 1 MiB.
    package var minimumBlocks = 16

    /// Blocks that a member holds for the next ones: 8 MiB.
    package var ring = 128
    /// Blocks whose digests a member holds in advance: 32 KiB of digests.
    package var digestsAhead = 1_024

    // MARK: Life

    /// Time between two heartbeats, of a member and of the sender.
    package var beat: Duration = .milliseconds(100)
    /// A member or a sender without a heartbeat for so long is dead.
    package var silence: Duration = .seconds(2)
    /// A member ends when nothing has come for so long, and nothing has moved behind it: its place is for others.
    package var idle: Duration = .seconds(90)
    /// Time for dialling the next member. A failure is reported at its end and not before, so that the sender learns
    /// nothing about ports of other machines.
    package var dial: Duration = .seconds(2)
    /// Time for which a token is valid.
    package var token: Duration = .seconds(60)
    /// Time for which a member holds an incoming connection that it does not expect yet.
    package var early: Duration = .seconds(2)
    /// A link that breaks between two living members is made again so many times.
    package var renewals = 2

    // MARK: Slow members

    /// Time over which rates are measured.
    package var paceWindow: Duration = .milliseconds(500)
    /// A member is slow if it is suspect for so long. The head of the chain moves to the tail after this time once, if
    /// there is no rate to compare with.
    package var suspicion: Duration = .seconds(2)
    /// Time from the move of a head to the tail until its rate is compared with that of the new head.
    package var comparison: Duration = .milliseconds(600)
    /// A suspect is behind the member before it by so many blocks at least.
    package var lag = 8

    // MARK: Excesses

    /// Messages of one member in a second.
    package var messagesPerSecond = 64
    /// Heartbeats of the sender in a second.
    package var beatsPerSecond = 32
    /// Places in a second.
    package var placesPerSecond = 32
    /// Reports of the next member in a second that say nothing new.
    package var idleReportsPerSecond = 32

    package init() {}
}
