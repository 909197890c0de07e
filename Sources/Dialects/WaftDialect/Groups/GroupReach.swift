package import Groups
package import Sharing

/// Looks at this machine's networks when a control connection begins. May block for a moment.
package typealias GroupReaching = @Sendable () -> GroupReach

/// The way of a member of a group to the next one, and the listener to its news.
package struct GroupReach: Sendable {
    /// The addresses that it may dial.
    package var rule: DialRule
    package var dialing: LinkDialing
    /// Called from any thread; returns soon.
    package var news: @Sendable (GroupNews) -> Void

    package init(
        rule: DialRule, dialing: @escaping LinkDialing, news: @escaping @Sendable (GroupNews) -> Void = { _ in }
    ) {
        (self.rule, self.dialing, self.news) = (rule, dialing, news)
    }
}

/// An event of a member, for logs and displays.
package enum GroupNews: Hashable, Sendable {
    /// The contents of a transfer are passed on to this peer from now on.
    case passesOn(TransferID, of: PeerID, to: PeerID)
    /// A fault of a neighbour. Any neighbour can cause many.
    case trouble(Trouble)
    /// A connection that was to be a link was refused. Any peer can cause many.
    case refused(PeerID, GroupError)
    case ended(TransferID, of: PeerID, MemberEnd)
}
