package import Sharing

/// A task for the caller of a `SenderLedger`. Actions are done in their order. A member is its number in the group.
package enum SenderAction: Hashable, Sendable {
    /// Open the control connections of these members, then call `start`.
    case open(members: [Int])
    /// Write this on the member's control connection, if it has one.
    case tell(SenderMessage, member: Int)
    /// Dial the head of a chain. The caller answers by `dialled`, within `GroupLimits.dial`.
    case dial(Place.Next)
    /// End the connection of a link, or stop dialling. No event of it follows.
    case hangUp(link: Epoch)
    /// Read these blocks and write them to the head, after those before. A block that is read for the first time is
    /// hashed, and reported by `hashed` before it is written; several together make fewer messages.
    case pass(Range<Int>, link: Epoch)
    /// Begin an ordinary stream to this member; the ordinary resuming finds what it has.
    case serve(member: Int, LeaveCause)
    /// The member is gone: the sending to it is retried as usual.
    case lost(member: Int)
    /// Each member has an outcome. No action follows.
    case end
}

/// A member's answer to the offer.
package enum MemberAnswer: Hashable, Sendable {
    /// It may relay.
    case yes(MemberTerms)
    /// It has accepted, but does not know groups, or may not relay.
    case yesAlone
    /// It has declined all items, or cannot be reached.
    case no
}

/// The facts about a member that may relay.
package struct MemberTerms: Hashable, Sendable {
    /// Equal for members with the same verdict on every item and the same digest. The caller numbers them.
    package var terms: Int
    /// The key that it proved.
    package var peer: PeerID
    /// At most `GroupLimits.addresses`.
    package var addresses: [NetworkAddress]
    package var port: UInt16

    package init(terms: Int, peer: PeerID, addresses: [NetworkAddress], port: UInt16) {
        (self.terms, self.peer, self.addresses, self.port) = (terms, peer, addresses, port)
    }
}
