/// A message of a member to the sender.
package enum MemberMessage: Hashable, Sendable {
    /// The member lives, and has so many blocks.
    case beat(has: Int)
    case trouble(Trouble, link: Epoch)
    /// The user or the disk of the member ends its part.
    case leaving
}

/// A fault of a link. It names both of its ends.
package enum Trouble: Hashable, Sendable {
    /// The one before could not dial the one after.
    case unreachable
    /// The connection ended, or the neighbour broke the rules.
    case broken
    /// The ring of the one before no longer has the block that the one after needs.
    case gap
    /// The digest of a block differs.
    case wrong
}

/// The message of a member to the one that feeds it.
package struct Report: Hashable, Sendable {
    /// Blocks that it has.
    package var has: Int
    /// Blocks that its own next has; all of them at the tail, none while the next is unknown.
    package var next: Int

    package init(has: Int, next: Int) { (self.has, self.next) = (has, next) }
}
