import Groups
import SecureTransport
package import Sharing
import WaftDialect

/// A sending of the same items to several peers as a group: each passes the contents on to another one (`Group.md`).
package final class SendGroup: Sendable {
    /// The place of one peer in it.
    package struct Seat: Sendable {
        package let group: SendGroup
        /// From 0 on.
        package let member: Int

        package init(_ group: SendGroup, member: Int) { (self.group, self.member) = (group, member) }

        /// The group of an offer in a dialect. A peer that speaks another one than Waft's is no member.
        package func offered(in dialect: Dialect) -> OfferedGroup? {
            if dialect == .waft { return group.sending.offered }
            group.left(member)
            return nil
        }
    }

    let sending: GroupSending

    /// - Parameters:
    ///   - members: the peers that get the items.
    /// - Returns: nil if a chain is not worth its connections, or the items cannot be read from any place.
    init?(
        _ sources: [any ItemSource], members: Int, own: PeerID, dial: @escaping HeadDialing
    ) {
        let least = UInt64(GroupLimits().minimumBlocks * GroupLimits.blockBytes)
        let sizes = sources.map(\.offered.size)
        guard (GroupLimits.minimumMembers...GroupLimits.maximumMembers).contains(members),
            sources.allSatisfy({ $0.isRepeatable && !($0 is any RecipientItemSource) }),
            sizes.allSatisfy({ $0 != nil }), sizes.reduce(0, { min($0 + ($1 ?? 0), least) }) == least
        else { return nil }
        sending = GroupSending(sources, members: members, own: own, dial: dial)
    }

    /// Lets the time of the group pass, until each member has an outcome.
    ///
    /// - Parameter beginning: called while answers are missing; an element begins the group without them.
    package func run(beginning: (@Sendable () -> AsyncStream<Void>)? = nil) async {
        await withTaskGroup(of: Void.self) { tasks in
            if let beginning {
                tasks.addTask { [sending] in
                    let waiting = Task { for await _ in beginning() { sending.begin() } }
                    await sending.gathered()
                    waiting.cancel()
                }
            }
            await sending.run()
        }
    }

    /// The sending to a member has ended.
    package func left(_ member: Int) { sending.left(member) }
}

extension WaftEndpoint {
    /// - Returns: nil if the items are not sent as a group.
    package func group(_ sources: [any ItemSource], members: Int) -> SendGroup? {
        SendGroup(sources, members: members, own: identity.peerID) { next, scope, group in
            await linkDialing(scope: scope)(next, group)
        }
    }
}
