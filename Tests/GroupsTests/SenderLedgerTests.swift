import Sharing
import Testing

@testable import Groups

/// The rules of the sender, one by one.
@Suite("The sender of a group")
struct SenderLedgerTests {
    private let start = ContinuousClock.now

    private func sender(_ count: Int) -> SenderLedger {
        SenderLedger(members: count, own: testPeer(255), tokens: CountedTokens(), at: start)
    }

    private func yes(_ terms: Int = 0, _ member: Int = 0) -> MemberAnswer {
        .yes(MemberTerms(terms: terms, peer: testPeer(member), addresses: [.v4(0x0A00_0001)], port: 4_000))
    }

    /// Opens the control connections at once when the ledger asks for it.
    private func opened(
        _ actions: [SenderAction], _ sender: inout SenderLedger, blocks: Int = 100,
        at now: ContinuousClock.Instant? = nil
    ) -> [SenderAction] {
        guard actions.contains(where: { if case .open = $0 { true } else { false } }) else { return actions }
        return actions.dropLast() + sender.start(blocks: blocks, at: now ?? start)
    }

    /// Answers of the first members, as `opened`.
    private func answer(_ sender: inout SenderLedger, _ members: Range<Int>, blocks: Int = 100) -> [SenderAction] {
        members.flatMap { opened(sender.answered($0, yes(0, $0), at: start), &sender, blocks: blocks) }
    }

    private func terms(of answer: MemberAnswer) -> MemberTerms {
        guard case .yes(let terms) = answer else { preconditionFailure("it is a yes") }
        return terms
    }

    /// A group under way, in one chain.
    private func running(_ count: Int, blocks: Int = 100) -> SenderLedger {
        var sender = sender(count)
        _ = answer(&sender, 0..<count, blocks: blocks)
        return sender
    }

    private func link(_ sender: SenderLedger, to member: Int) -> Epoch { sender.members[member].link?.epoch ?? 0 }

    // MARK: The beginning

    @Test("a group begins at once when all have answered")
    func all() {
        var sender = sender(3)
        #expect(answer(&sender, 0..<2) == [])
        #expect(sender.answered(2, yes(0, 2), at: start) == [.open(members: [0, 1, 2])])
        // Nobody must be heard before.
        #expect(!sender.tick(at: start + .seconds(3)).contains(.lost(member: 0)))
        let actions = sender.start(blocks: 100, at: start + .seconds(3))
        #expect(sender.chains == [[0, 1, 2]])
        // The tail is told first, and the head is dialled last.
        guard case .tell(.place(let tail), 2) = actions.first, case .dial(let head) = actions.last else {
            Issue.record("\(actions)")
            return
        }
        #expect(tail.next == nil && tail.previous.peer == testPeer(1))
        #expect(head.peer == testPeer(0))
    }

    @Test("a group begins 2 s after the last answer, 20 s after the first yes at the latest, or when the user says so")
    func times() {
        var sender = sender(30)
        for member in 0..<3 { _ = sender.answered(member, yes(), at: start) }
        _ = beat(&sender, until: 19)
        #expect(sender.chains == [])
        _ = beat(&sender, from: 20, until: 20)
        #expect(sender.chains == [[0, 1, 2]])

        var slow = self.sender(40)
        for member in 0..<3 { _ = slow.answered(member, yes(), at: start) }
        // An answer each second: the last one is never 2 s old.
        for second in 1..<20 {
            _ = slow.answered(2 + second, .no, at: start + .seconds(second))
            _ = beat(&slow, from: second * 10 - 4, until: second * 10 + 5)
        }
        #expect(slow.chains == [])
        _ = beat(&slow, from: 196, until: 200)
        #expect(slow.chains == [[0, 1, 2]])

        var asked = self.sender(5)
        for member in 0..<3 { _ = asked.answered(member, yes(), at: start) }
        _ = opened(asked.begin(at: start), &asked)
        #expect(asked.chains == [[0, 1, 2]])
    }

    /// Lets time pass to a tenth of a second, with heartbeats of all.
    private func beat(_ sender: inout SenderLedger, from first: Int = 1, until tenth: Int) -> [SenderAction] {
        var actions: [SenderAction] = []
        for each in first...tenth {
            let now = start + .milliseconds(100 * each)
            for member in sender.members.indices {
                let said = sender.receive(.beat(has: sender.members[member].has), from: member, at: now)
                actions += opened(said, &sender, at: now)
            }
            actions += opened(sender.tick(at: now), &sender, at: now)
        }
        return actions
    }

    @Test("too few members, or less than 1 MiB: each gets a stream of its own")
    func small() {
        var two = sender(3)
        _ = two.answered(0, yes(), at: start)
        _ = two.answered(1, yes(), at: start)
        let actions = two.answered(2, .no, at: start)
        #expect(actions.contains(.serve(member: 0, .tooSmall)) && actions.contains(.serve(member: 1, .tooSmall)))
        #expect(actions.last == .end)
        #expect(running(3, blocks: 15).chains == [])
        #expect(running(3, blocks: 16).chains == [[0, 1, 2]])
    }

    @Test("those with other terms, those that do not relay and those that decline are not in the chain")
    func terms() {
        var sender = sender(7)
        for (member, answer) in [yes(1), yes(2), .no, yes(2), .yesAlone, yes(2), yes(1)].enumerated() {
            _ = opened(sender.answered(member, answer, at: start), &sender)
        }
        #expect(sender.chains == [[1, 3, 5]])
        #expect(sender.members[0].state == .alone(.otherTerms))
        #expect(sender.members[2].state == .declined)
        #expect(sender.members[4].state == .alone(.cannotRelay))
    }

    @Test("a late one is the tail while the tail holds the first block, otherwise alone")
    func late() {
        for (has, chain) in [(96, [0, 1, 2, 3]), (97, [0, 1, 2])] {
            var sender = sender(4)
            for member in 0..<3 { _ = sender.answered(member, yes(), at: start) }
            _ = opened(sender.begin(at: start), &sender, blocks: 1_000)
            _ = sender.hashed(below: 200)
            _ = sender.receive(.beat(has: has), from: 2, at: start)
            #expect(sender.hasRoom(for: terms(of: yes())) == (has == 96))
            _ = sender.answered(3, yes(), at: start)
            #expect(sender.chains == [chain])
        }
    }

    @Test("members whose control connections cannot be opened are not in the chain")
    func unopened() {
        var sender = sender(4)
        for member in 0..<4 { _ = sender.answered(member, yes(), at: start) }
        #expect(sender.closed(member: 1, at: start) == [.lost(member: 1)])
        _ = sender.start(blocks: 100, at: start)
        #expect(sender.chains == [[0, 2, 3]])
        var few = self.sender(3)
        for member in 0..<3 { _ = few.answered(member, yes(), at: start) }
        _ = few.closed(member: 1, at: start)
        #expect(few.start(blocks: 100, at: start).contains(.serve(member: 0, .tooSmall)))
    }

    @Test("members whose control connections are open get heartbeats while others are opened")
    func opening() {
        var sender = sender(3)
        for member in 0..<3 { _ = sender.answered(member, yes(0, member), at: start) }
        let actions = sender.tick(at: start + .milliseconds(100))
        #expect(actions == (0..<3).map { .tell(.beat, member: $0) })
    }

    @Test("a member that claims blocks which nobody has read leaves")
    func claims() {
        var sender = running(4)
        _ = sender.hashed(below: 10)
        _ = sender.receive(.beat(has: 10), from: 1, at: start)
        #expect(sender.members[1].has == 10)
        _ = sender.receive(.beat(has: 11), from: 2, at: start)
        #expect(sender.members[2].state == .alone(.fault(.wrongCount(11))))
        #expect(sender.chains == [[0, 1, 3]])
    }

    @Test("contents that have changed end the chains, and each member gets a stream of its own")
    func changed() {
        var sender = running(3)
        let actions = sender.breakUp(at: start)
        for member in 0..<3 {
            #expect(actions.contains(.tell(.out(.other), member: member)))
            #expect(actions.contains(.serve(member: member, .other)))
        }
        #expect(actions.last == .end)
    }

    // MARK: Placing

    @Test("a member that ends is bridged: only its neighbours are told, with a new link and a larger epoch")
    func bridge() {
        var sender = running(5)
        let old = [0, 1, 3, 4].map { link(sender, to: $0) }
        let actions = sender.closed(member: 2, at: start)
        #expect(sender.chains == [[0, 1, 3, 4]])
        var told: [Int: Place] = [:]
        for case .tell(.place(let place), let member) in actions { told[member] = place }
        #expect(told.keys.sorted() == [1, 3])
        #expect(told[1]?.next?.peer == testPeer(3) && told[3]?.previous.peer == testPeer(1))
        #expect(told[1]?.next?.token == told[3]?.previous.token)
        #expect(told[1]?.next?.link == told[3]?.previous.link)
        #expect([0, 1, 4].map { link(sender, to: $0) } == [old[0], old[1], old[3]])
        #expect(link(sender, to: 3) > old[2])
    }

    @Test("no two links have the same token or the same epoch")
    func fresh() {
        var sender = sender(40)
        var links: [Epoch: Token] = [:]
        var epochs: [Epoch] = []
        var actions: [SenderAction] = []
        for member in 0..<40 { actions += sender.answered(member, yes(), at: start) }
        for member in 5..<20 { actions += sender.closed(member: member, at: start) }
        for case .tell(.place(let place), _) in actions {
            epochs.append(place.epoch)
            links[place.previous.link] = place.previous.token
        }
        #expect(Set(links.values).count == links.count)
        #expect(Set(epochs).count == epochs.count && epochs == epochs.sorted())
    }

    // MARK: Faults of links

    @Test("a fault of a link: the one after leaves; named with another one, the one before is the cause")
    func blame() {
        // The trouble, the member that says it, and the chains after the first fault and after the second.
        let cases: [(Trouble, Int, [[Int]], [[Int]])] = [
            (.wrong, 1, [[0, 1, 3, 4, 5]], [[0, 3, 4, 5]]),
            (.unreachable, 0, [[0, 1, 3, 4, 5]], [[0, 1], [3, 4, 5]]),
        ]
        for (trouble, side, first, second) in cases {
            var sender = running(6)
            _ = sender.receive(.trouble(trouble, link: link(sender, to: 2)), from: 1 + side, at: start)
            #expect(sender.chains == first, "\(trouble)")
            #expect(sender.members[1].state == .placed)
            let reporter = side == 0 ? 1 : 3
            _ = sender.receive(.trouble(trouble, link: link(sender, to: 3)), from: reporter, at: start)
            #expect(sender.chains == second, "\(trouble)")
        }
    }

    @Test("a member that accuses the sender leaves")
    func accusedSender() {
        var sender = running(4)
        _ = sender.receive(.trouble(.wrong, link: link(sender, to: 0)), from: 0, at: start)
        #expect(sender.chains == [[1, 2, 3]])
    }

    @Test("a gap makes a new chain; the tail alone leaves")
    func gap() {
        var sender = running(5)
        let actions = sender.receive(.trouble(.gap, link: link(sender, to: 3)), from: 2, at: start)
        #expect(sender.chains == [[0, 1, 2], [3, 4]])
        #expect(actions.contains { if case .dial(let next) = $0 { next.peer == testPeer(3) } else { false } })
        _ = sender.receive(.trouble(.gap, link: link(sender, to: 2)), from: 1, at: start)
        #expect(sender.chains == [[0, 1], [3, 4]])
    }

    @Test("a link that breaks is made again twice, then the one after leaves")
    func broken() {
        var sender = running(4)
        var links: Set<Epoch> = []
        for _ in 0..<3 {
            links.insert(link(sender, to: 2))
            _ = sender.receive(.trouble(.broken, link: link(sender, to: 2)), from: 1, at: start)
        }
        #expect(links.count == 3)
        #expect(sender.chains == [[0, 1, 3]])
    }

    @Test("a fault of a replaced link, of another's link or of the other side changes nothing")
    func foreign() {
        var sender = running(5)
        let old = link(sender, to: 2)
        _ = sender.receive(.trouble(.broken, link: old), from: 2, at: start)
        let chains = sender.chains
        let now = link(sender, to: 2)
        for (trouble, epoch, member) in [
            (Trouble.wrong, old, 2), (.unreachable, old, 1), (.wrong, now, 1), (.wrong, now, 4), (.unreachable, now, 2),
            (.gap, now, 2), (.broken, now, 3), (.wrong, 999, 2),
        ] {
            #expect(sender.receive(.trouble(trouble, link: epoch), from: member, at: start) == [])
        }
        #expect(sender.chains == chains && link(sender, to: 2) == now)
    }

    // MARK: Faults of members

    @Test("heartbeats without end, falling ones, and ones of more than there is: the member leaves")
    func excesses() {
        var flooded = running(4)
        for _ in 0..<64 { _ = flooded.receive(.beat(has: 0), from: 1, at: start) }
        #expect(flooded.members[1].state == .placed)
        _ = flooded.receive(.beat(has: 0), from: 1, at: start)
        #expect(flooded.members[1].state == .alone(.fault(.tooManyMessages)))
        for (first, second) in [(5, 4), (0, 101), (0, -1)] {
            var sender = running(4)
            _ = sender.hashed(below: 100)
            _ = sender.receive(.beat(has: first), from: 1, at: start)
            _ = sender.receive(.beat(has: second), from: 1, at: start)
            #expect(sender.members[1].state == .alone(.fault(.wrongCount(second))))
            #expect(sender.chains == [[0, 2, 3]])
        }
    }

    @Test("a member that is silent for 2 s is lost, and not before")
    func silence() {
        var sender = running(4)
        _ = sender.dialled(link(sender, to: 0), isOpen: true, at: start)
        for tenth in 1...20 {
            let now = start + .milliseconds(100 * tenth)
            for member in [0, 2, 3] { _ = sender.receive(.beat(has: 0), from: member, at: now) }
            #expect(sender.members[1].state == .placed)
            _ = sender.tick(at: now)
        }
        #expect(sender.members[1].state == .lost)
        #expect(sender.chains == [[0, 2, 3]])
    }

    @Test("a head that is not reached within 2 s leaves")
    func dialling() {
        var sender = running(4)
        let head = link(sender, to: 0)
        #expect(beat(&sender, until: 20).contains(.hangUp(link: head)))
        #expect(sender.members[0].state == .alone(.unreachable))
        #expect(sender.chains == [[1, 2, 3]])
    }

    @Test("a member with its receipt that leaves needs no stream of its own")
    func received() {
        var sender = running(4)
        _ = sender.hashed(below: 100)
        _ = sender.receive(.beat(has: 100), from: 1, at: start)
        _ = sender.receipt(1, at: start)
        _ = sender.receive(.leaving, from: 1, at: start)
        #expect(sender.members[1].state == .received)
        #expect(sender.chains == [[0, 2, 3]])
    }

    // MARK: Blocks and the end

    @Test("a head is fed a ring ahead, and a digest comes to each member before or with its block")
    func feeding() {
        var sender = running(3, blocks: 1_000)
        let head = link(sender, to: 0)
        _ = sender.dialled(head, isOpen: true, at: start)
        #expect(sender.reported(Report(has: 0, next: 0), link: head, at: start) == [.pass(0..<128, link: head)])
        #expect(
            sender.hashed(below: 2)
                == (0..<3).map { .tell(.digests(0..<2), member: $0) })
        #expect(sender.reported(Report(has: 8, next: 0), link: head, at: start) == [.pass(128..<136, link: head)])
        #expect(sender.reported(Report(has: 4, next: 0), link: head, at: start).first == .hangUp(link: head))
    }

    @Test("digests are given at most 1,024 blocks ahead of what a member has")
    func window() {
        var sender = running(3, blocks: 5_000)
        #expect(sender.hashed(below: 3_000).first == .tell(.digests(0..<1_024), member: 0))
        let actions = sender.receive(.beat(has: 10), from: 1, at: start)
        #expect(actions == [.tell(.digests(1_024..<1_034), member: 1)])
    }

    @Test("the chain ends when all are whole; streams begin then, and the group ends with the receipts")
    func end() {
        var sender = sender(4)
        _ = answer(&sender, 0..<3)
        _ = opened(sender.answered(3, .yesAlone, at: start), &sender)
        _ = sender.hashed(below: 100)
        _ = sender.receive(.beat(has: 100), from: 0, at: start)
        _ = sender.receipt(0, at: start)
        _ = sender.receive(.beat(has: 100), from: 1, at: start)
        // The first one feeds on after its receipt.
        #expect(sender.chains == [[0, 1, 2]])
        let actions = sender.receive(.beat(has: 100), from: 2, at: start)
        for member in 0..<3 { #expect(actions.contains(.tell(.end, member: member))) }
        #expect(actions.contains(.serve(member: 3, .cannotRelay)))
        #expect(sender.receipt(1, at: start) == [])
        #expect(sender.closed(member: 2, at: start) == [.lost(member: 2), .end])
        #expect(sender.members.map(\.state) == [.received, .received, .lost, .alone(.cannotRelay)])
        #expect(sender.nextDeadline == nil)
    }
}
