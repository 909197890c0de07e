/// The sender's memory of slow members.
struct Judging {
    /// When the group began.
    var began: ContinuousClock.Instant?
    /// Heads that were slow: if there is a second one, the sender itself is slow.
    var slowHeads = 0
    /// Whether the head has moved to the tail, or need not.
    var hasMovedHead = false
    /// The head that has moved to the tail, its rate as the head, and when that is compared with the new head's.
    var moved: (member: Int, rate: Double, due: ContinuousClock.Instant)?
}

/// Faults of links, and slow members (`Group.md`, sections 6 and 7).
extension SenderLedger {
    /// A fault of the link to a member.
    mutating func judge(
        _ trouble: Trouble, to member: Int, _ actions: inout [SenderAction], at now: ContinuousClock.Instant
    ) {
        guard let link = members[member].link else { return }
        switch trouble {
        case .broken where link.renewals < limits.renewals:
            makeLink(to: member, from: link.from, renewals: link.renewals + 1, at: now)
        case .broken, .unreachable:
            blame(member, .unreachable, &actions)
        case .wrong:
            blame(member, .wrongBlock, &actions)
        case .gap:
            split(at: member, .gap, &actions)
        }
        place(&actions, at: now)
    }

    /// A fault names two. The first time, the one after leaves; if the one before is named with another member again, it is the
    /// cause.
    private mutating func blame(_ member: Int, _ cause: LeaveCause, _ actions: inout [SenderAction]) {
        guard let from = members[member].link?.from else { return leave(member, cause, &actions) }
        let isFirst = members[from].blamedWith.isEmpty
        members[from].blamedWith.insert(member)
        if isFirst {
            leave(member, cause, &actions)
        } else if cause == .unreachable {
            // The one before may be in another part of the network than all after it.
            split(at: member, cause, &actions)
        } else {
            leave(from, cause, &actions)
        }
    }

    /// The member and those after it become a chain that the sender feeds. A single one would halve the rate of the others:
    /// it gets its own stream afterwards.
    private mutating func split(at member: Int, _ cause: LeaveCause, _ actions: inout [SenderAction]) {
        guard let index = chains.firstIndex(where: { $0.contains(member) }),
            let position = chains[index].firstIndex(of: member), position > 0
        else { return }
        if position == chains[index].count - 1 { return leave(member, cause, &actions) }
        chains.append(Array(chains[index][position...]))
        chains[index].removeSubrange(position...)
        for each in members.indices { members[each].pace.forgetRates() }
    }

    /// Takes the slow member out that the others wait for.
    mutating func findSlow(_ actions: inout [SenderAction], at now: ContinuousClock.Instant) {
        // Those before a slow one are slow, too, because their rings are full: the last one is the cause.
        let slow = chains.compactMap { lastSlow(in: $0, at: now) }.last
        if let slow {
            let isHead = members[slow].link?.from == nil
            if isHead { judging.slowHeads += 1 }
            if !isHead || judging.slowHeads < 2 || members[slow].pace.rate(at: now) == 0 {
                blame(slow, .slow, &actions)
                place(&actions, at: now)
            }
        }
        compareHeads(&actions, at: now)
    }

    private mutating func lastSlow(in chain: [Int], at now: ContinuousClock.Instant) -> Int? {
        var slow: Int?
        for (position, member) in chain.enumerated() {
            guard isSuspect(member, position, in: chain, at: now), let link = members[member].link else {
                members[member].pace.suspectSince = nil
                continue
            }
            let since = members[member].pace.suspectSince ?? now
            members[member].pace.suspectSince = since
            // A link on which nothing has come may still be dialled: its end is known when three heartbeats more are over.
            // Those before it wait for it, so none of them is judged until then.
            if members[member].has == link.had, now < link.made + limits.dial + limits.beat * 3 {
                for before in chain[..<position] { members[before].pace.suspectSince = nil }
                slow = nil
                continue
            }
            if now - since >= limits.suspicion { slow = member }
        }
        return slow
    }

    private func isSuspect(_ member: Int, _ position: Int, in chain: [Int], at now: ContinuousClock.Instant) -> Bool {
        guard members[member].state == .placed, let rate = members[member].pace.rate(at: now),
            let link = members[member].link
        else { return false }
        let isHead = position == 0
        // A head that has not reported is behind; later it waits only for blocks that the sender has read.
        let before =
            isHead ? (feeds[link.epoch]?.report == nil ? blocks : hashed) : members[chain[position - 1]].pace.hadBefore
        let lag = before - members[member].has
        if rate == 0 { return lag > 0 }
        guard lag >= (isHead ? 1 : limits.lag) else { return false }
        // Heads of several chains share the rate of the sender.
        if isHead, judging.slowHeads >= 2 || chains.count > 1 { return false }
        let others = isHead ? chains.joined().filter { $0 != member } : Array(chain[..<position])
        let rates = others.map { members[$0].pace.best }.sorted()
        return rates.isEmpty ? false : rate < rates[rates.count / 2] / 2
    }

    /// A head that was slow from the beginning leaves no rate to compare with: it moves to the tail once, and the new head
    /// shows the rate of the sender.
    private mutating func compareHeads(_ actions: inout [SenderAction], at now: ContinuousClock.Instant) {
        if let moved = judging.moved, now >= moved.due {
            judging.moved = nil
            if members[moved.member].state == .placed, let head = chains.first?.first, head != moved.member,
                let rate = members[head].pace.rate(at: now), rate >= 2 * moved.rate
            {
                leave(moved.member, .slow, &actions)
                place(&actions, at: now)
            }
        }
        guard !judging.hasMovedHead, let began = judging.began, now >= began + limits.suspicion else { return }
        judging.hasMovedHead = true
        guard chains.count == 1, chains[0].count >= GroupLimits.minimumMembers, let tail = chains[0].last,
            chains[0].allSatisfy({ members[$0].has > 0 && members[$0].pace.suspectSince == nil }),
            members[tail].canFeed, members[tail].state == .placed, let head = chains[0].first,
            let rate = members[head].pace.rate(at: now), rate > 0,
            Double(blocks - members[head].has) / rate >= limits.suspicion / .seconds(1)
        else { return }
        judging.moved = (head, rate, now + limits.comparison)
        chains[0].append(chains[0].removeFirst())
        place(&actions, at: now)
    }
}
