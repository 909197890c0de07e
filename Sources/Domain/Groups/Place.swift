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
