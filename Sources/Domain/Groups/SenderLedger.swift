package import Sharing

/// The sender of a group, without I/O and clock: events come as calls with their time, and each returns actions.
///
/// ```
/// gathering ─all answers, time, the user─▶ opening ─start─▶ under way ─each member has an outcome─▶ over
/// ```
///
/// `chains` has the order of the members. A rule changes `chains` only; then `place` makes the links that are missing, and
/// tells the members whose neighbours have changed. `GroupMember.State` has the states of a member.
package struct SenderLedger: Sendable {
    enum Stage { case gathering, opening, underWay, over }

    /// Blocks of the whole stream; 0 until `start`.
    package private(set) var blocks = 0
    package internal(set) var members: [GroupMember]
    /// Members by their numbers, from the head to the tail. None is empty.
    package internal(set) var chains: [[Int]] = []
    let limits: GroupLimits
    let own: PeerID
    var tokens: any TokenSource
    var stage = Stage.gathering
    /// The terms of the members of all chains.
    private var terms: Int?
    var lastEpoch: Epoch = 0
    /// By the epochs of their links: one for each head.
    var feeds: [Epoch: Feed] = [:]
    /// Blocks that were read and hashed.
    private(set) var hashed = 0

    private var firstYes: ContinuousClock.Instant?
    private var lastAnswer: ContinuousClock.Instant?
    private var nextBeat: ContinuousClock.Instant
    var judging = Judging()

    /// - Parameters:
    ///   - count: of the members, in their order in the chain; at most `GroupLimits.maximumMembers`.
    ///   - own: the sender's own key.
    package init(
        members count: Int, own: PeerID, tokens: any TokenSource, limits: GroupLimits = GroupLimits(),
        at now: ContinuousClock.Instant
    ) {
        precondition(count <= GroupLimits.maximumMembers, "no group")
        self.own = own
        self.tokens = tokens
        self.limits = limits
        members = (0..<count).map { _ in GroupMember(limits: limits, at: now) }
        nextBeat = now
    }

    /// When `tick` is due at the latest; nil after the end.
    package var nextDeadline: ContinuousClock.Instant? { stage == .over ? nil : nextBeat }

    /// Whether answers are collected.
    package var isGathering: Bool { stage == .gathering }

    /// Whether the members were placed.
    package var isUnderWay: Bool { stage == .underWay }

    // MARK: The beginning

    /// A member has answered the offer. Only its first answer counts.
    ///
    /// A yes before `open` needs no control connection. One that comes later needs it, and waits for `start`.
    package mutating func answered(
        _ member: Int, _ answer: MemberAnswer, at now: ContinuousClock.Instant
    ) -> [SenderAction] {
        guard members[member].state == .asked else { return [] }
        var actions: [SenderAction] = []
        if stage == .gathering { lastAnswer = now }
        switch answer {
        case .no:
            members[member].state = .declined
        case .yesAlone:
            members[member].state = .alone(.cannotRelay)
        case .yes(let terms):
            members[member].terms = terms
            members[member].state = .ready
            members[member].heard = now
            if firstYes == nil { firstYes = now }
            if stage == .underWay { join(member, &actions, at: now) }
        }
        settle(&actions, at: now)
        return actions
    }

    /// The user begins the group without the answers that are missing.
    package mutating func begin(at now: ContinuousClock.Instant) -> [SenderAction] {
        guard stage == .gathering else { return [] }
        var actions: [SenderAction] = []
        open(&actions)
        settle(&actions, at: now)
        return actions
    }

    private func isTimeToBegin(at now: ContinuousClock.Instant) -> Bool {
        if !members.contains(where: { $0.state == .asked }) { return true }
        guard let firstYes, let lastAnswer else { return false }
        return now >= lastAnswer + limits.answerWait || now >= firstYes + limits.longestAnswerWait
    }

    /// Selects the members of the chain.
    private mutating func open(_ actions: inout [SenderAction]) {
        let ready = members.indices.filter { members[$0].state == .ready }
        // The terms of most members; of the first ones if several have as many.
        let groups = Dictionary(grouping: ready) { members[$0].terms?.terms }
        let chain = groups.values.max { ($0.count, -$0[0]) < ($1.count, -$1[0]) } ?? []
        guard chain.count >= GroupLimits.minimumMembers else {
            stage = .underWay
            for member in ready { leave(member, .tooSmall, &actions) }
            return
        }
        stage = .opening
        for member in ready where !chain.contains(member) { leave(member, .otherTerms, &actions) }
        terms = members[chain[0]].terms?.terms
        actions.append(.open(members: chain))
    }

    /// The control connections are open; `closed(member:)` has named those that could not be opened.
    ///
    /// - Parameter blocks: of the stream; 0 if its size cannot be known. Below `GroupLimits.minimumBlocks` all are alone.
    package mutating func start(blocks: Int, at now: ContinuousClock.Instant) -> [SenderAction] {
        guard stage == .opening else { return [] }
        var actions: [SenderAction] = []
        stage = .underWay
        judging.began = now
        self.blocks = blocks
        let chain = members.indices.filter { members[$0].state == .ready }
        if chain.count >= GroupLimits.minimumMembers, blocks >= limits.minimumBlocks {
            chains = [chain]
            for member in chain {
                members[member].heard = now
                enter(member, at: now)
            }
            place(&actions, at: now)
        } else {
            for member in chain { leave(member, .tooSmall, &actions) }
        }
        settle(&actions, at: now)
        return actions
    }

    /// The contents have changed, or cannot be read: no chain can have them. Each member gets a stream of its own.
    package mutating func breakUp(at now: ContinuousClock.Instant) -> [SenderAction] {
        var actions: [SenderAction] = []
        for member in chains.joined() { leave(member, .other, &actions) }
        place(&actions, at: now)
        settle(&actions, at: now)
        return actions
    }

    /// Whether a late member can become the tail: the present one still has the first block.
    package func hasRoom(for late: MemberTerms) -> Bool { late.terms == terms && openTail != nil }

    /// The chain with such a tail.
    private var openTail: Int? {
        // The last heartbeat of the tail is older than its ring.
        chains.firstIndex { chain in
            chain.last.map { members[$0].canFeed && members[$0].has <= limits.ring * 3 / 4 } ?? false
        }
    }

    private mutating func join(_ member: Int, _ actions: inout [SenderAction], at now: ContinuousClock.Instant) {
        guard chains.isEmpty || members[member].terms?.terms == terms else {
            return leave(member, .otherTerms, &actions)
        }
        guard let index = openTail else { return leave(member, .late, &actions) }
        chains[index].append(member)
        enter(member, at: now)
        place(&actions, at: now)
    }

    private mutating func enter(_ member: Int, at now: ContinuousClock.Instant) {
        members[member].state = .placed
        members[member].pace.note(has: 0, at: now)
    }

    // MARK: Blocks

    /// The caller has read and hashed all blocks below this one. A number that is not larger changes nothing.
    package mutating func hashed(below count: Int) -> [SenderAction] {
        var actions: [SenderAction] = []
        hashed = max(hashed, min(count, blocks))
        giveDigests(&actions)
        return actions
    }

    mutating func giveDigests(_ actions: inout [SenderAction]) {
        for member in chains.joined() {
            let range =
                members[member]
                .digested..<max(
                    members[member].digested, min(hashed, members[member].has + limits.digestsAhead))
            if range.isEmpty { continue }
            members[member].digested = range.upperBound
            actions.append(.tell(.digests(range), member: member))
        }
    }

    /// The result of a `dial`.
    package mutating func dialled(
        _ link: Epoch, isOpen: Bool, at now: ContinuousClock.Instant
    ) -> [SenderAction] {
        if isOpen { feeds[link]?.open() }
        return isOpen ? [] : trouble(.unreachable, link: link, at: now)
    }

    /// Takes a report of a head.
    package mutating func reported(_ report: Report, link: Epoch, at now: ContinuousClock.Instant) -> [SenderAction] {
        guard var feed = feeds[link] else { return [] }
        let fault = feed.take(report, oldest: 0, blocks: blocks, at: now)
        let range = feed.pass(below: blocks, ahead: limits.ring)
        feeds[link] = feed
        if let fault { return [.hangUp(link: link)] + trouble(fault, link: link, at: now) }
        guard let range else { return [] }
        return [.pass(range, link: link)]
    }

    /// The connection to a head ended, and this side did not end it.
    package mutating func closed(_ link: Epoch, at now: ContinuousClock.Instant) -> [SenderAction] {
        trouble(.broken, link: link, at: now)
    }

    /// A fault of a link of the sender itself.
    private mutating func trouble(_ trouble: Trouble, link: Epoch, at now: ContinuousClock.Instant) -> [SenderAction] {
        guard feeds[link] != nil else { return [] }
        feeds[link]?.end()
        guard let member = chains.compactMap(\.first).first(where: { members[$0].link?.epoch == link }) else {
            return []
        }
        var actions: [SenderAction] = []
        judge(trouble, to: member, &actions, at: now)
        settle(&actions, at: now)
        return actions
    }

    // MARK: Members

    /// Takes a message of a member.
    package mutating func receive(
        _ message: MemberMessage, from member: Int, at now: ContinuousClock.Instant
    ) -> [SenderAction] {
        guard members[member].isConnected else { return [] }
        var actions: [SenderAction] = []
        members[member].heard = now
        if !members[member].messages.allows(at: now) {
            leave(member, .fault(.tooManyMessages), &actions)
            place(&actions, at: now)
            settle(&actions, at: now)
            return actions
        }
        switch message {
        case .beat(let has):
            beat(member, has, &actions, at: now)
        case .trouble(let trouble, let link):
            guard let follower = chains.joined().first(where: { members[$0].link?.epoch == link }) else { break }
            // A member speaks of its own links only, and of the faults that its end can see.
            let isBefore = members[follower].link?.from == member
            let isAfter = follower == member
            switch trouble {
            case .unreachable, .gap: if !isBefore { return actions }
            case .wrong: if !isAfter { return actions }
            case .broken: if !isBefore && !isAfter { return actions }
            }
            judge(trouble, to: follower, &actions, at: now)
        case .leaving:
            drop(member, .declined)
            place(&actions, at: now)
        }
        settle(&actions, at: now)
        return actions
    }

    private mutating func beat(
        _ member: Int, _ has: Int, _ actions: inout [SenderAction], at now: ContinuousClock.Instant
    ) {
        guard members[member].has <= has, has <= hashed else {
            leave(member, .fault(.wrongCount(has)), &actions)
            return place(&actions, at: now)
        }
        if members[member].state == .ready { return }
        // The time for which nothing came says nothing about the rate.
        if has > members[member].has, members[member].has == members[member].link?.had {
            members[member].pace.suspectSince = nil
        }
        members[member].pace.note(has: has, at: now)
        if has == blocks { members[member].state = .whole }
        giveDigests(&actions)
    }

    /// The control connection of a member ended.
    package mutating func closed(member: Int, at now: ContinuousClock.Instant) -> [SenderAction] {
        guard members[member].isConnected else { return [] }
        var actions: [SenderAction] = []
        lose(member, &actions)
        place(&actions, at: now)
        settle(&actions, at: now)
        return actions
    }

    /// The receipt of a member says that all its items are stored.
    package mutating func receipt(_ member: Int, at now: ContinuousClock.Instant) -> [SenderAction] {
        guard members[member].state == .whole else { return [] }
        // It goes on to feed its next until the end of the chain.
        var actions: [SenderAction] = []
        members[member].hasReceipt = true
        settle(&actions, at: now)
        return actions
    }

    // MARK: Leaving and the end

    /// The member leaves its chain and gets a stream of its own. `place` must follow.
    mutating func leave(_ member: Int, _ cause: LeaveCause, _ actions: inout [SenderAction]) {
        drop(member, .alone(cause))
        actions.append(.tell(.out(cause), member: member))
    }

    private mutating func lose(_ member: Int, _ actions: inout [SenderAction]) {
        drop(member, .lost)
        if members[member].state == .lost { actions.append(.lost(member: member)) }
    }

    private mutating func drop(_ member: Int, _ state: GroupMember.State) {
        members[member].state = members[member].hasReceipt ? .received : state
        members[member].link = nil
        for index in chains.indices { chains[index].removeAll { $0 == member } }
        chains.removeAll(where: \.isEmpty)
    }

    private func isWhole(_ chain: [Int]) -> Bool { chain.allSatisfy { members[$0].state == .whole } }

    /// Ends the chains that are whole, then begins streams, then ends the group.
    private mutating func settle(_ actions: inout [SenderAction], at now: ContinuousClock.Instant) {
        if stage == .over { return }
        if stage == .gathering, isTimeToBegin(at: now) { open(&actions) }
        guard stage == .underWay else { return }
        for chain in chains where isWhole(chain) {
            for member in chain {
                actions.append(.tell(.end, member: member))
                members[member].link = nil
            }
            chains.removeAll { $0 == chain }
            place(&actions, at: now)
        }
        guard chains.isEmpty else { return }
        for member in members.indices {
            if members[member].state == .whole, members[member].hasReceipt { members[member].state = .received }
            guard case .alone(let cause) = members[member].state, !members[member].isServed else { continue }
            members[member].isServed = true
            actions.append(.serve(member: member, cause))
        }
        if members.allSatisfy({ $0.state != .asked && !$0.isConnected }) {
            stage = .over
            actions.append(.end)
        }
    }

    // MARK: The clock

    /// Lets time pass. Call it at `nextDeadline`, or before.
    package mutating func tick(at now: ContinuousClock.Instant) -> [SenderAction] {
        guard stage != .over, now >= nextBeat else { return [] }
        nextBeat = now + limits.beat
        var actions: [SenderAction] = []
        let silent = members.indices.filter {
            stage == .underWay && members[$0].isConnected && now - members[$0].heard >= limits.silence
        }
        for member in silent { lose(member, &actions) }
        if !silent.isEmpty { place(&actions, at: now) }
        for (link, feed) in feeds.sorted(by: { $0.key < $1.key }) where feed.isDialling && feed.dialEnd <= now {
            actions += [.hangUp(link: link)] + trouble(.unreachable, link: link, at: now)
        }
        findSlow(&actions, at: now)
        settle(&actions, at: now)
        // Those that are open do not wait in silence for the others.
        for member in members.indices where stage != .gathering && members[member].isConnected {
            actions.append(.tell(.beat, member: member))
        }
        return actions
    }
}
