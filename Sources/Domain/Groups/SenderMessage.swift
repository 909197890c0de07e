/// A message of the sender to a member.
package enum SenderMessage: Hashable, Sendable {
    case place(Place)
    /// The digests of these blocks. On the wire each is a SHA-256; the caller holds them.
    case digests(Range<Int>)
    case beat
    /// The member is no longer in a chain.
    case out(LeaveCause)
    /// All members of the chain have all blocks.
    case end
}

/// Why a member is not in a chain, and gets a stream of its own.
package enum LeaveCause: Hashable, Sendable {
    /// It does not know groups, or may not relay.
    case cannotRelay
    /// Its verdict or digest is not that of the others.
    case otherTerms
    /// Too few members or bytes for a chain.
    case tooSmall
    /// Its yes came when the ring of the tail no longer had the first block.
    case late
    /// The one before could not reach it, or its link broke too often.
    case unreachable
    /// A digest differed on its link: it or its neighbour is wrong.
    case wrongBlock
    case slow
    /// No ring has the block that it needs.
    case gap
    /// It broke a rule of the protocol.
    case fault(GroupError)
    /// A cause that this version does not know.
    case other
}
