/// A task for the caller of a `MemberLedger`. Actions are done in their order.
package enum MemberAction: Hashable, Sendable {
    /// Answer the connection by `101`: blocks come on it.
    case accept(connection: UInt64, link: Epoch)
    /// Answer the connection by a refusal, and end it.
    case refuse(connection: UInt64, GroupError)
    /// Dial the next member at these addresses, with its key and token. The caller answers by `dialled`.
    case dial(Place.Next)
    /// End the connection of a link, or stop dialling. No event of it follows.
    case hangUp(link: Epoch)
    /// Read no block from this one on. The newest number counts; it can fall.
    case read(below: Int)
    /// Hold the block, and give it to this machine's own receiver.
    case store(Int)
    /// Free the held blocks below this one, when no queue of `pass` has them.
    case forget(below: Int)
    /// Write these blocks to the next, after those before.
    case pass(Range<Int>, link: Epoch)
    /// Write this to the previous.
    case report(Report, link: Epoch)
    /// Write this to the sender.
    case tell(MemberMessage)
    /// The part of this member has ended. No action follows.
    case end(MemberEnd)
}

/// How the part of a member ended. In each case it keeps the blocks that it has.
package enum MemberEnd: Hashable, Sendable {
    /// It has all blocks, and so have the others of its chain; its receipt was sent.
    case whole
    /// The sender took it out: a stream of its own follows.
    case out(LeaveCause)
    /// Its own user or disk ended it.
    case left
    /// The sender is gone, or broke a rule.
    case fault(GroupError)
}
