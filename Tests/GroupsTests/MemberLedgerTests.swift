import Sharing
import Testing

@testable import Groups

/// The rules of a member, one by one.
@Suite("A member of a group")
struct MemberLedgerTests {
    private let start = ContinuousClock.now
    private let token = Token(high: 1, low: 2)
    private let before = testPeer(1)
    private let after = testPeer(2)
    private let later = testPeer(3)

    private func member(blocks: Int = 100, ring: Int = 4) -> MemberLedger {
        var limits = GroupLimits()
        limits.ring = ring
        let rule = DialRule(
            subnets: [Subnet(.v4(0x0A00_0000), prefixLength: 24)], own: [.v4(0x0A00_0001)])
        return MemberLedger(blocks: blocks, rule: rule, limits: limits, at: start)
    }

    private func place(_ epoch: Epoch, previous: Epoch = 1, next: Epoch? = nil, port: UInt16 = 4_000) -> SenderMessage {
        .place(
            Place(
                epoch: epoch, previous: Place.Previous(link: previous, peer: before, token: token),
                next: next.map { link in
                    Place.Next(
                        link: link, peer: after, token: token, addresses: [.v4(0x0A00_0002)], port: port)
                }))
    }

    /// A member with a place, all digests, an open previous and, if there is a next, an open next that has nothing.
    private func linked(next: Epoch? = nil, blocks: Int = 100) -> MemberLedger {
        var member = member(blocks: blocks)
        _ = member.receive(place(10, next: next), at: start)
        _ = member.receive(.digests(0..<blocks), at: start)
        _ = member.arrived(1, from: before, token, at: start)
        if let next {
            _ = member.dialled(next, isOpen: true)
            _ = member.reported(Report(has: 0, next: 0), link: next, at: start)
        }
        return member
    }

    private func end(_ actions: [MemberAction]) -> MemberEnd? {
        for case .end(let end) in actions { return end }
        return nil
    }

    // MARK: Places

    @Test("a place of an older epoch, or of the same, ends the member", arguments: [9, 10] as [Epoch])
    func oldEpoch(epoch: Epoch) {
        var member = member()
        _ = member.receive(place(10), at: start)
        #expect(end(member.receive(place(epoch, previous: 2), at: start)) == .fault(.oldEpoch(epoch)))
        #expect(member.receive(place(11), at: start) == [])
    }

    @Test("10,000 places in a second: the member dials 32 times and ends")
    func manyPlaces() {
        var member = member()
        var dials = 0
        var ends: [MemberEnd] = []
        for epoch in 1...10_000 {
            let actions = member.receive(place(Epoch(2 * epoch), next: Epoch(2 * epoch - 1)), at: start)
            for case .dial in actions { dials += 1 }
            if let end = end(actions) { ends.append(end) }
        }
        #expect(dials == 32)
        #expect(ends == [.fault(.tooManyPlaces)])
    }

    @Test("a member that was taken out ends its links and dials nobody")
    func out() {
        var member = linked(next: 5)
        #expect(
            member.receive(.out(.slow), at: start) == [.hangUp(link: 1), .hangUp(link: 5), .end(.out(.slow))])
        #expect(member.receive(place(20, next: 19), at: start) == [])
    }

    @Test("a new place keeps the links that stay, and replaces the others")
    func newPlace() {
        var member = linked(next: 5)
        let actions = member.receive(place(20, previous: 1, next: 19), at: start)
        #expect(actions.first == .hangUp(link: 5))
        #expect(!actions.contains(.hangUp(link: 1)))
        #expect(member.receive(place(30, previous: 21, next: 19), at: start).first == .hangUp(link: 1))
    }

    @Test("a port of the system ends the member, and an unreachable network does not")
    func forbidden() {
        var first = member()
        #expect(end(first.receive(place(10, next: 5, port: 22), at: start)) == .fault(.dial(.port(22))))
        var second = member()
        let next = Place.Next(link: 5, peer: after, token: token, addresses: [.v4(0x0808_0808)], port: 4_000)
        let previous = Place.Previous(link: 1, peer: before, token: token)
        let actions = second.receive(.place(Place(epoch: 10, previous: previous, next: next)), at: start)
        #expect(actions == [])
        #expect(second.tick(at: start + .seconds(1)).contains(.tell(.beat(has: 0))))
    }

    // MARK: Tokens

    @Test("a token is used up by its first use, right or wrong")
    func tokens() {
        var right = member()
        _ = right.receive(place(10), at: start)
        #expect(right.arrived(1, from: before, token, at: start).first == .accept(connection: 1, link: 1))
        #expect(!right.arrived(2, from: before, token, at: start).contains(.accept(connection: 2, link: 1)))
        var wrong = member()
        _ = wrong.receive(place(10), at: start)
        let other = Token(high: 1, low: 3)
        #expect(wrong.arrived(1, from: before, other, at: start) == [.refuse(connection: 1, .wrongToken)])
        #expect(!wrong.arrived(2, from: before, token, at: start).contains(.accept(connection: 2, link: 1)))
    }

    @Test("another peer with the right token is not let in, and does not use the token up")
    func otherPeer() {
        var member = member()
        _ = member.receive(place(10), at: start)
        #expect(member.arrived(1, from: later, token, at: start) == [])
        #expect(member.arrived(2, from: before, token, at: start).first == .accept(connection: 2, link: 1))
        _ = member.receive(.beat, at: start + .seconds(1))
        let late = member.tick(at: start + .seconds(2))
        #expect(late.contains(.refuse(connection: 1, .unexpectedPeer)))
    }

    @Test("a token is not valid after 60 s")
    func oldToken() {
        var member = member()
        _ = member.receive(place(10), at: start)
        for second in 1...60 {
            _ = member.receive(.beat, at: start + .seconds(second))
            _ = member.tick(at: start + .seconds(second))
        }
        #expect(member.arrived(1, from: before, token, at: start + .seconds(60)) == [])
    }

    @Test("a connection that comes before its place is held, at most four of them")
    func early() {
        var member = member()
        for number in 1...4 { #expect(member.arrived(UInt64(number), from: later, token, at: start) == []) }
        #expect(member.arrived(5, from: before, token, at: start) == [.refuse(connection: 5, .tooManyArrivals)])
        var other = self.member()
        _ = other.arrived(7, from: before, token, at: start)
        #expect(other.receive(place(10), at: start).contains(.accept(connection: 7, link: 1)))
    }

    // MARK: Blocks

    @Test("a block is read only after its digest has come")
    func digests() {
        var member = member()
        _ = member.receive(place(10), at: start)
        #expect(
            !member.arrived(1, from: before, token, at: start).contains { if case .read = $0 { true } else { false } })
        #expect(member.received(0, link: 1, isRight: true) == [])
        #expect(member.receive(.digests(0..<3), at: start).contains(.read(below: 3)))
        #expect(member.received(0, link: 1, isRight: true).first == .store(0))
    }

    @Test("digests with a gap, none, or too many in advance end the member")
    func wrongDigests() {
        var gap = member()
        #expect(end(gap.receive(.digests(1..<3), at: start)) == .fault(.digestGap(1)))
        var none = member()
        #expect(end(none.receive(.digests(0..<0), at: start)) == .fault(.digestGap(0)))
        var many = member(blocks: 5_000)
        #expect(end(many.receive(.digests(0..<1_024), at: start)) == nil)
        #expect(end(many.receive(.digests(1_024..<1_025), at: start)) == .fault(.tooManyDigests(1_025)))
        var beyond = member(blocks: 10)
        #expect(end(beyond.receive(.digests(0..<11), at: start)) == .fault(.tooManyDigests(11)))
    }

    @Test("a wrong block is neither stored nor passed on, and nothing more is read from its link")
    func wrongBlock() {
        var member = linked(next: 5)
        #expect(
            member.received(0, link: 1, isRight: false) == [.read(below: 0), .tell(.trouble(.wrong, link: 1))])
        #expect(member.received(0, link: 1, isRight: true) == [])
        #expect(member.has == 0)
        // The end of that connection is no other fault.
        #expect(member.closed(1) == [])
        #expect(member.receive(place(20, previous: 19, next: 5), at: start) == [])
        #expect(member.arrived(2, from: before, token, at: start).contains(.report(Report(has: 0, next: 0), link: 19)))
    }

    @Test("a block leaves the ring only when the next and the next but one have it")
    func ring() {
        var member = linked(next: 5)
        for block in 0..<4 { _ = member.received(block, link: 1, isRight: true) }
        #expect(member.held == 0..<4)
        #expect(!member.reported(Report(has: 3, next: 0), link: 5, at: start).contains(.read(below: 5)))
        #expect(member.reported(Report(has: 4, next: 1), link: 5, at: start).contains(.read(below: 5)))
        #expect(member.received(4, link: 1, isRight: true).contains(.forget(below: 1)))
        #expect(member.held == 1..<5)
    }

    @Test("no block leaves while the next is not linked")
    func bridging() {
        var member = linked(next: 5)
        for block in 0..<4 { _ = member.received(block, link: 1, isRight: true) }
        _ = member.reported(Report(has: 4, next: 0), link: 5, at: start)
        _ = member.receive(place(20, next: 19), at: start)
        _ = member.dialled(19, isOpen: true)
        #expect(member.held == 0..<4)
        #expect(member.reported(Report(has: 0, next: 0), link: 19, at: start).first == .pass(0..<4, link: 19))
    }

    @Test("the tail holds a ring for late ones, and waits for nobody")
    func tail() {
        var member = linked()
        for block in 0..<6 { _ = member.received(block, link: 1, isRight: true) }
        #expect(member.held == 2..<6)
    }

    @Test("a next that needs a block that has left is a gap")
    func gap() {
        var member = linked()
        for block in 0..<6 { _ = member.received(block, link: 1, isRight: true) }
        _ = member.receive(place(20, next: 19), at: start)
        _ = member.dialled(19, isOpen: true)
        let actions = member.reported(Report(has: 1, next: 0), link: 19, at: start)
        #expect(actions.contains(.tell(.trouble(.gap, link: 19))))
        #expect(member.receive(place(30, next: nil), at: start).contains(.hangUp(link: 19)))
    }

    @Test("a report that falls, claims too much, or repeats itself ends the link")
    func reports() {
        let broken = MemberAction.tell(.trouble(.broken, link: 5))
        for bad in [
            Report(has: 1, next: 0), Report(has: 5, next: 0), Report(has: 101, next: 0), Report(has: -1, next: 0),
        ] {
            var member = linked(next: 5)
            for block in 0..<4 { _ = member.received(block, link: 1, isRight: true) }
            _ = member.reported(Report(has: 2, next: 0), link: 5, at: start)
            let actions = member.reported(bad, link: 5, at: start)
            #expect(actions.contains(broken) && actions.contains(.hangUp(link: 5)), "\(bad)")
        }
        var member = linked(next: 5)
        for _ in 0..<32 { #expect(!member.reported(Report(has: 0, next: 0), link: 5, at: start).contains(broken)) }
        #expect(member.reported(Report(has: 0, next: 0), link: 5, at: start).contains(broken))
    }

    // MARK: Time

    @Test("a failure to dial is said after 2 s, and not before")
    func unreachable() {
        var member = member()
        _ = member.receive(place(10, next: 5), at: start)
        #expect(member.dialled(5, isOpen: false) == [])
        let trouble = MemberAction.tell(.trouble(.unreachable, link: 5))
        for tenth in 1...19 {
            let now = start + .milliseconds(100 * tenth)
            _ = member.receive(.beat, at: now)
            #expect(!member.tick(at: now).contains(trouble))
        }
        #expect(member.tick(at: start + .seconds(2)).contains(trouble))
    }

    @Test("a silent sender, its end, too many heartbeats and an early end: the member ends and keeps its blocks")
    func ends() {
        var silent = linked()
        _ = silent.received(0, link: 1, isRight: true)
        #expect(end(silent.tick(at: start + .seconds(2))) == .fault(.senderSilent))
        #expect(silent.has == 1)
        var gone = linked()
        #expect(end(gone.senderClosed()) == .fault(.senderGone))
        var flooded = linked()
        for _ in 0..<32 { #expect(flooded.receive(.beat, at: start) == []) }
        #expect(end(flooded.receive(.beat, at: start)) == .fault(.tooManyBeats))
        var early = linked()
        #expect(end(early.receive(.end, at: start)) == .fault(.earlyEnd))
    }

    @Test("a member ends when for 90 s no block has come, and its next has had nothing new")
    func idle() {
        var member = linked(next: 2)
        _ = member.dialled(2, isOpen: true)
        _ = member.received(0, link: 1, isRight: true)
        func tick(_ second: Int) -> [MemberAction] {
            let now = start + .seconds(second)
            _ = member.receive(.beat, at: now)
            return member.tick(at: now)
        }
        #expect(end(tick(1)) == nil)
        _ = member.reported(Report(has: 0, next: 0), link: 2, at: start + .seconds(30))
        _ = member.reported(Report(has: 1, next: 0), link: 2, at: start + .seconds(30))
        #expect(end(tick(31)) == nil)
        // What falls and grows again is nothing new.
        _ = member.reported(Report(has: 1, next: 0), link: 2, at: start + .seconds(90))
        #expect(end(tick(120)) == nil)
        #expect(end(tick(121)) == .fault(.nothingComes))
    }

    @Test("a next whose reports fall and grow again without end is broken")
    func fallingReports() {
        var member = linked(next: 2)
        _ = member.dialled(2, isOpen: true)
        _ = member.received(0, link: 1, isRight: true)
        var count = 0
        while count < 200,
            !member.reported(Report(has: 0, next: count % 2), link: 2, at: start).contains(.hangUp(link: 2))
        {
            count += 1
        }
        #expect((33...70).contains(count))
    }

    @Test("the last block makes a member whole, and says so at once")
    func whole() {
        var member = linked(blocks: 1)
        #expect(member.received(0, link: 1, isRight: true).contains(.tell(.beat(has: 1))))
        #expect(member.stage == .whole)
        #expect(member.receive(.end, at: start) == [.hangUp(link: 1), .forget(below: 1)])
        #expect(member.tick(at: start) == [.tell(.beat(has: 1))])
        #expect(end(member.receiptSent()) == .whole)
    }
}
