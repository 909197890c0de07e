/// Why a message of a group was refused, or a member ended.
///
/// It names the bound or the rule that was broken; `description` is for people: one line, lower case, without any text of a
/// peer.
package enum GroupError: Error, Hashable, Sendable {
    // Of the sender.

    /// A place whose epoch is not larger than that of the place before it.
    case oldEpoch(Epoch)
    /// More places in a second than `GroupLimits.placesPerSecond`.
    case tooManyPlaces
    /// More heartbeats in a second than `GroupLimits.beatsPerSecond`.
    case tooManyBeats
    /// Digests that do not begin where those before ended, or are none.
    case digestGap(Int)
    /// Digests of more blocks in advance than `GroupLimits.digestsAhead`, or beyond the end of the stream.
    case tooManyDigests(Int)
    /// A next member that a member must not dial.
    case dial(DialError)
    /// The sender said `end` to a member that does not have all blocks.
    case earlyEnd
    /// No heartbeat of the sender for `GroupLimits.silence`.
    case senderSilent
    /// The control connection ended.
    case senderGone
    /// No block came for `GroupLimits.idle`.
    case nothingComes

    // Of a peer that dials.

    /// The token is not the expected one, was used before, or is too old.
    case wrongToken
    /// A peer that is not the expected one.
    case unexpectedPeer
    /// More connections before their place than `GroupLimits.earlyArrivals`.
    case tooManyArrivals

    // Of a member.

    /// More messages in a second than `GroupLimits.messagesPerSecond`.
    case tooManyMessages
    /// A number of blocks that fell, or that the stream does not have.
    case wrongCount(Int)

    // Of this machine.

    /// The member has ended before.
    case ended
}

extension GroupError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .oldEpoch(let epoch): "a place has the old epoch \(epoch)"
        case .tooManyPlaces: "there are too many places in a second"
        case .tooManyBeats: "there are too many heartbeats in a second"
        case .digestGap(let first): "the digests from block \(first) on leave a gap"
        case .tooManyDigests(let end): "digests up to block \(end) are too many in advance"
        case .dial(let fault): fault.description
        case .earlyEnd: "the sender ended the group too early"
        case .senderSilent: "the sender is silent"
        case .senderGone: "the sender's connection ended"
        case .nothingComes: "nothing has come for too long"
        case .wrongToken: "the token is wrong"
        case .unexpectedPeer: "another peer is expected"
        case .tooManyArrivals: "too many connections come before their place"
        case .tooManyMessages: "there are too many messages in a second"
        case .wrongCount(let count): "\(count) is no possible number of blocks"
        case .ended: "the group has ended"
        }
    }
}
