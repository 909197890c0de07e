package import Sharing

/// One member of a group, without I/O and clock: events come as calls with their time, and each returns actions.
///
/// ```
/// waiting ─place─▶ placed ─last block─▶ whole ─end, and its receipt─▶ ended
///    └──── out, silence of the sender, its fault, its end ─────────────▶
/// ```
///
/// It has an `Entrance` for the previous, a `BlockRing`, and a `Feed` for the next. The caller reads a block only below the
/// number of the last `read`, compares it with its digest, and says the result by `received`. So a block of a liar is
/// neither stored nor passed on.
package struct MemberLedger: Sendable {
    package enum Stage: Hashable, Sendable {
        case waiting
        case placed
        case whole
        case ended(MemberEnd)
    }

    /// Blocks of the whole stream.
    package let blocks: Int
    package private(set) var stage = Stage.waiting
    private let rule: DialRule
    private let limits: GroupLimits

    private var ring: BlockRing
    private var entrance: Entrance
    /// Nil at the tail, and before the first place.
    private var feed: Feed?
    private var epoch: Epoch?
    /// Blocks whose digests the caller has.
    private var digested = 0
    /// The number of the last `read`.
    private var readable = 0
    /// The last report to the present previous.
    private var told: Report?

    /// Whether the sender has ended the chain: then only heartbeats follow, until the receipt.
    package private(set) var isReleased = false
    private var hasSentReceipt = false

    /// When the sender was last heard.
    private var heard: ContinuousClock.Instant
    /// When there was more than ever here and behind this member, and how much that was.
    private var progressed: ContinuousClock.Instant
    private var furthest = 0
    private var nextBeat: ContinuousClock.Instant
    private var beats: RateBound
    private var places: RateBound

    /// A member whose control connection has begun.
    /// - Parameter blocks: of the stream, at least 1.
    package init(blocks: Int, rule: DialRule, limits: GroupLimits = GroupLimits(), at now: ContinuousClock.Instant) {
        precondition(blocks > 0, "a stream without blocks has no group")
        self.blocks = blocks
        self.rule = rule
        self.limits = limits
        ring = BlockRing(capacity: limits.ring)
        entrance = Entrance(limits: limits)
        heard = now
        progressed = now
        nextBeat = now
        beats = RateBound(limits.beatsPerSecond)
        places = RateBound(limits.placesPerSecond)
    }

    /// Blocks that the member has: the first ones, verified.
    package var has: Int { ring.end }

    /// The blocks that it holds for the next ones.
    package var held: Range<Int> { ring.start..<ring.end }

    /// When `tick` is due at the latest; nil after the end.
    package var nextDeadline: ContinuousClock.Instant? { hasEnded ? nil : nextBeat }

    private var hasEnded: Bool { if case .ended = stage { true } else { false } }

    // MARK: The sender

    /// Takes a message of the sender. A message that breaks a rule ends the member.
    package mutating func receive(_ message: SenderMessage, at now: ContinuousClock.Instant) -> [MemberAction] {
        if hasEnded { return [] }
        heard = now
        var actions: [MemberAction] = []
        do throws(GroupError) {
            switch message {
            case .place(let place): try take(place, &actions, at: now)
            case .digests(let range): try take(range)
            case .beat: guard beats.allows(at: now) else { throw .tooManyBeats }
            case .out(let cause): return end(.out(cause))
            case .end:
                guard stage == .whole else { throw .earlyEnd }
                isReleased = true
                if hasSentReceipt { return end(.whole) }
                endLinks(&actions)
                return actions + [.forget(below: blocks)]
            }
        } catch {
            return end(.fault(error))
        }
        advance(&actions)
        return actions
    }

    /// The control connection ended.
    package mutating func senderClosed() -> [MemberAction] {
        hasEnded ? [] : end(.fault(.senderGone))
    }

    private mutating func take(
        _ place: Place, _ actions: inout [MemberAction], at now: ContinuousClock.Instant
    ) throws(GroupError) {
        guard places.allows(at: now) else { throw .tooManyPlaces }
        if let epoch, place.epoch <= epoch { throw .oldEpoch(place.epoch) }
        epoch = place.epoch
        if stage == .waiting { stage = .placed }
        if place.next?.link != feed?.next.link { try link(to: place.next, &actions, at: now) }
        if place.previous.link != entrance.link {
            if entrance.hasConnection, let old = entrance.link { actions.append(.hangUp(link: old)) }
            told = nil
            readable = 0
            carryOut(entrance.expect(place.previous, at: now), &actions)
        }
    }

    private mutating func link(
        to next: Place.Next?, _ actions: inout [MemberAction], at now: ContinuousClock.Instant
    ) throws(GroupError) {
        if let feed, !feed.isOver { actions.append(.hangUp(link: feed.next.link)) }
        feed = next.map { Feed($0, limits: limits, at: now) }
        guard var next else { return }
        do throws(DialError) {
            next.addresses = try rule.permitted(next.addresses, port: next.port)
            actions.append(.dial(next))
        } catch .otherNetwork, .ownAddress {
            // An honest sender may not know that this machine cannot reach the next: `unreachable` follows as for a failure.
        } catch {
            throw .dial(error)
        }
    }

    private mutating func take(_ digests: Range<Int>) throws(GroupError) {
        guard digests.lowerBound == digested, !digests.isEmpty else { throw .digestGap(digests.lowerBound) }
        guard digests.upperBound <= min(blocks, has + limits.digestsAhead) else {
            throw .tooManyDigests(digests.upperBound)
        }
        digested = digests.upperBound
    }

    // MARK: The previous

    /// A peer began a connection for this group.
    /// - Parameters:
    ///   - connection: a number of the caller.
    ///   - peer: the key that it proved.
    package mutating func arrived(
        _ connection: UInt64, from peer: PeerID, _ token: Token, at now: ContinuousClock.Instant
    ) -> [MemberAction] {
        if hasEnded { return [.refuse(connection: connection, .ended)] }
        let arrival = Entrance.Arrival(connection: connection, peer: peer, token: token, until: now + limits.early)
        var actions: [MemberAction] = []
        if let answer = entrance.arrive(arrival) { carryOut([answer], &actions) }
        advance(&actions)
        return actions
    }

    /// A block has come whole, and was compared with its digest.
    ///
    /// A block of a link that is no longer open is left out.
    package mutating func received(_ block: Int, link: Epoch, isRight: Bool) -> [MemberAction] {
        guard !hasEnded, entrance.isOpen, link == entrance.link, block == ring.end, block < digested else { return [] }
        guard isRight else {
            // The connection stays until the sender has decided: its end would be reported as another fault by the previous.
            entrance.distrust()
            return [.read(below: 0), .tell(.trouble(.wrong, link: link))]
        }
        var actions: [MemberAction] = [.store(block)]
        let oldest = ring.start
        ring.append()
        if ring.start > oldest { actions.append(.forget(below: ring.start)) }
        if ring.end == blocks {
            stage = .whole
            actions.append(.tell(.beat(has: blocks)))
        }
        advance(&actions)
        return actions
    }

    private mutating func carryOut(_ answers: [Entrance.Answer], _ actions: inout [MemberAction]) {
        for answer in answers {
            switch answer {
            case .accept(let connection):
                if let link = entrance.link { actions.append(.accept(connection: connection, link: link)) }
            case .refuse(let connection, let error):
                actions.append(.refuse(connection: connection, error))
            }
        }
    }

    // MARK: The next

    /// The result of a `dial`: whether the named peer proved its key and took the token.
    package mutating func dialled(_ link: Epoch, isOpen: Bool) -> [MemberAction] {
        // A failure is reported when its time is over (`GroupLimits.dial`).
        if isOpen, feed?.next.link == link { feed?.open() }
        return []
    }

    /// Takes a report of the next.
    package mutating func reported(
        _ report: Report, link: Epoch, at now: ContinuousClock.Instant
    ) -> [MemberAction] {
        guard !hasEnded, var feed, feed.next.link == link else { return [] }
        var actions: [MemberAction] = []
        let fault = feed.take(report, oldest: ring.start, blocks: blocks, at: now)
        self.feed = feed
        if let trouble = fault {
            if trouble == .broken { actions.append(.hangUp(link: link)) }
            actions.append(.tell(.trouble(trouble, link: link)))
        }
        advance(&actions)
        return actions
    }

    // MARK: Both neighbours, and the clock

    /// The connection of a link ended, and this side did not end it.
    package mutating func closed(_ link: Epoch) -> [MemberAction] {
        if hasEnded { return [] }
        if entrance.hasConnection, entrance.link == link {
            let isDistrusted = !entrance.isOpen
            entrance.close()
            if isDistrusted { return [] }
        } else if let feed, feed.next.link == link, !feed.isOver, !feed.isDialling {
            self.feed?.end()
        } else {
            return []
        }
        return [.tell(.trouble(.broken, link: link))]
    }

    /// This machine's receiver has stored all items, and the receipt was written to the sender.
    package mutating func receiptSent() -> [MemberAction] {
        hasSentReceipt = true
        return !hasEnded && isReleased ? end(.whole) : []
    }

    /// This machine's own user, receiver or disk ends its part.
    package mutating func leave() -> [MemberAction] {
        hasEnded ? [] : [.tell(.leaving)] + end(.left)
    }

    /// Lets time pass. Call it at `nextDeadline`, or before.
    package mutating func tick(at now: ContinuousClock.Instant) -> [MemberAction] {
        if hasEnded || now < nextBeat { return [] }
        if now - heard >= limits.silence { return end(.fault(.senderSilent)) }
        let reached = has + (feed?.report.map { $0.has + $0.next } ?? 0)
        if reached > furthest { (furthest, progressed) = (reached, now) }
        if now - progressed >= limits.idle { return end(.fault(.nothingComes)) }
        nextBeat = now + limits.beat
        var actions: [MemberAction] = [.tell(.beat(has: has))]
        if let feed, feed.isDialling, feed.dialEnd <= now {
            self.feed?.end()
            actions.append(.hangUp(link: feed.next.link))
            actions.append(.tell(.trouble(.unreachable, link: feed.next.link)))
        }
        carryOut(entrance.expire(at: now), &actions)
        advance(&actions, isBeat: true)
        return actions
    }

    /// Passes on, reads and reports as far as the present numbers allow.
    private mutating func advance(_ actions: inout [MemberAction], isBeat: Bool = false) {
        if var feed, let range = feed.pass(below: has, ahead: limits.ring) {
            self.feed = feed
            actions.append(.pass(range, link: feed.next.link))
        }
        guard entrance.isOpen, let link = entrance.link else { return }
        let report = Report(has: has, next: feed.map { $0.report?.has ?? 0 } ?? blocks)
        if isDue(report, isBeat: isBeat) {
            told = report
            actions.append(.report(report, link: link))
        }
        // At the tail every block may leave.
        let limit = min(digested, ring.limit(released: feed?.released ?? blocks))
        if limit != readable {
            readable = limit
            actions.append(.read(below: limit))
        }
    }

    private func isDue(_ report: Report, isBeat: Bool) -> Bool {
        guard let told else { return true }
        if report == told { return false }
        let step = max(1, limits.ring / 16)
        return isBeat || report.has >= told.has + step || report.next >= told.next + step || report.next < told.next
            || (report.has == blocks && told.has < blocks) || (report.next == blocks && told.next < blocks)
    }

    private mutating func end(_ end: MemberEnd) -> [MemberAction] {
        var actions: [MemberAction] = []
        endLinks(&actions)
        stage = .ended(end)
        return actions + [.end(end)]
    }

    private mutating func endLinks(_ actions: inout [MemberAction]) {
        if entrance.hasConnection, let link = entrance.link { actions.append(.hangUp(link: link)) }
        if let feed, !feed.isOver { actions.append(.hangUp(link: feed.next.link)) }
        carryOut(entrance.shut(), &actions)
        feed = nil
    }
}
