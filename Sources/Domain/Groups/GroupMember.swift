import Sharing

/// One member, as the sender knows it.
package struct GroupMember: Sendable {
    /// ```
    ///        yes              begin          has all          receipt
    /// asked ─────▶ ready ──────────▶ placed ─────────▶ whole ─────────▶ received
    ///   │            │ leaves          │ leaves          │
    ///   │ yesAlone   ▼                 ▼                 │
    ///   ├──────────▶ alone           alone               │
    ///   ▼ no                                             │ silent, closed (from each state)
    /// declined ◀──── leaving (from each state)           └──▶ lost
    /// ```
    package enum State: Hashable, Sendable {
        case asked
        case ready
        case placed
        case whole
        case received
        case alone(LeaveCause)
        case lost
        case declined
    }

    /// A link that feeds the member.
    struct Link {
        var epoch: Epoch
        /// Nil for the sender.
        var from: Int?
        var token: Token
        /// How often it was made again.
        var renewals: Int
        /// When it was made, and the blocks that the member had then.
        var made: ContinuousClock.Instant
        var had: Int
    }

    package internal(set) var state = State.asked
    var terms: MemberTerms?
    var link: Link?
    /// The links of the last place that the member was given.
    var placed: [Epoch?] = []
    /// Blocks whose digests it was given.
    var digested = 0
    var pace: Pace
    /// When it was last heard.
    var heard: ContinuousClock.Instant
    var messages: RateBound
    /// The members with which a link of this one had a fault, while this one was the one before.
    var blamedWith: Set<Int> = []
    /// Whether its receipt has come. It is whole until its chain is over.
    var hasReceipt = false
    /// Whether its stream of its own has begun.
    var isServed = false

    init(limits: GroupLimits, at now: ContinuousClock.Instant) {
        heard = now
        pace = Pace(window: limits.paceWindow)
        messages = RateBound(limits.messagesPerSecond)
    }

    /// Blocks that it has, by its last heartbeat.
    package var has: Int { pace.has }

    /// Whether the member has, or is about to have, a control connection.
    var isConnected: Bool { state == .ready || state == .placed || state == .whole }

    /// Whether it can have a new next: its links had faults with fewer than two members.
    var canFeed: Bool { blamedWith.count < 2 }
}
