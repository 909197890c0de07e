package import Sharing

/// The number of a link or of a place. It only grows in a group, and each new link has another one.
package typealias Epoch = UInt32

/// Where a member is in its chain (`Group.md`, section 2).
package struct Place: Hashable, Sendable {
    /// The peer that dials this member and feeds it: a member, or the sender.
    package struct Previous: Hashable, Sendable {
        package var link: Epoch
        package var peer: PeerID
        package var token: Token

        package init(link: Epoch, peer: PeerID, token: Token) {
            (self.link, self.peer, self.token) = (link, peer, token)
        }
    }

    /// The member that this one dials and feeds.
    package struct Next: Hashable, Sendable {
        package var link: Epoch
        package var peer: PeerID
        package var token: Token
        /// At most `GroupLimits.addresses`.
        package var addresses: [NetworkAddress]
        package var port: UInt16

        package init(link: Epoch, peer: PeerID, token: Token, addresses: [NetworkAddress], port: UInt16) {
            (self.link, self.peer, self.token) = (link, peer, token)
            (self.addresses, self.port) = (addresses, port)
        }
    }

    package var epoch: Epoch
    package var previous: Previous
    /// Nil for the tail.
    package var next: Next?

    package init(epoch: Epoch, previous: Previous, next: Next?) {
        (self.epoch, self.previous, self.next) = (epoch, previous, next)
    }
}

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
    /// Nobody's ring has the block that it needs.
    case gap
    /// It broke a rule of the protocol.
    case fault(GroupError)
}
