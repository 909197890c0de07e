/// The links between members (`Group.md`, section 3).
extension SenderLedger {
    /// Makes the links that the chains need, and tells the members whose neighbours have changed.
    mutating func place(_ actions: inout [SenderAction], at now: ContinuousClock.Instant) {
        for chain in chains {
            var from: Int?
            for member in chain {
                if members[member].link.map({ $0.from != from }) ?? true {
                    makeLink(to: member, from: from, renewals: 0, at: now)
                }
                from = member
            }
        }
        let heads = chains.compactMap(\.first).compactMap { asNext($0) }
        for (link, feed) in feeds.sorted(by: { $0.key < $1.key }) where !heads.contains(where: { $0.link == link }) {
            if !feed.isOver { actions.append(.hangUp(link: link)) }
            feeds[link] = nil
        }
        for chain in chains {
            // From the tail to the head: a member knows a token before the one before it dials.
            var follower: Int?
            for member in chain.reversed() {
                tell(member, next: follower, &actions)
                follower = member
            }
        }
        for head in heads where feeds[head.link] == nil {
            feeds[head.link] = Feed(head, limits: limits, at: now)
            actions.append(.dial(head))
        }
        for member in members.indices { members[member].pace.suspectSince = nil }
        giveDigests(&actions)
    }

    mutating func makeLink(to member: Int, from: Int?, renewals: Int, at now: ContinuousClock.Instant) {
        lastEpoch += 1
        members[member].link = GroupMember.Link(
            epoch: lastEpoch, from: from, token: tokens.makeToken(), renewals: renewals, made: now,
            had: members[member].has)
    }

    /// The member as the next of another one.
    private func asNext(_ member: Int) -> Place.Next? {
        guard let link = members[member].link, let terms = members[member].terms else { return nil }
        return Place.Next(
            link: link.epoch, peer: terms.peer, token: link.token, addresses: terms.addresses,
            port: terms.port)
    }

    private mutating func tell(_ member: Int, next follower: Int?, _ actions: inout [SenderAction]) {
        guard let link = members[member].link else { return }
        let next = follower.flatMap { asNext($0) }
        guard members[member].placed != [link.epoch, next?.link] else { return }
        members[member].placed = [link.epoch, next?.link]
        lastEpoch += 1
        let previous = Place.Previous(
            link: link.epoch, peer: link.from.flatMap { members[$0].terms?.peer } ?? own, token: link.token)
        actions.append(.tell(.place(Place(epoch: lastEpoch, previous: previous, next: next)), member: member))
    }
}
