import Groups
import NIOCore
import Sharing
import TestSupport
import Testing

@testable import WaftDialect

@Suite("A member of a group", .timeLimit(.minutes(1)))
struct GroupMemberTests {
    private static func run(_ body: @Sendable (WaftLoopback) async throws -> Void) async throws {
        try await WaftLoopback.run(mayRelay: true, body)
    }

    @Test("a member alone stores what comes over its link, and answers after the end of the chain")
    func tail() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 200_000)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                control.digests(0..<sender.blocks.count, of: sender)
                try await sender.link(to: member, 1) { link in
                    #expect(try await link.heard.element(1) == Report(has: 0, next: sender.blocks.count))
                    link.blocks(sender.blocks)
                    try await control.has(sender.blocks.count)
                    #expect(try await member.end(of: sender.offer.transfer) == nil)
                    #expect(control.answers.count == 0)
                    control.endChain()
                    #expect(try await control.answers.element(1) == nil)
                    try await link.ended.element(1)
                }
            }
            #expect(member.inbox.names == ["file-0"])
            try await member.news.first { if case .ended(_, _, .whole) = $0 { true } else { false } }
        }
    }

    @Test("three members in a chain get all from one, and each passes on what it has compared")
    func chain() async throws {
        try await Self.run { first in
            try await Self.run { second in
                try await Self.run { third in
                    let sender = GroupSender(size: 1_500_000)
                    let count = sender.blocks.count
                    try await sender.control(first) { a in
                        try await sender.control(second) { b in
                            try await sender.control(third) { c in
                                c.place(1, GroupSender.previous(3, WaftLoopback.other))
                                b.place(
                                    2, GroupSender.previous(2, WaftLoopback.other), try GroupSender.next(3, third))
                                a.place(3, GroupSender.previous(1), try GroupSender.next(2, second))
                                for line in [a, b, c] { line.digests(0..<count, of: sender) }
                                try await sender.link(to: first, 1) { link in
                                    try await link.heard.element(1)
                                    link.blocks(sender.blocks)
                                    for line in [a, b, c] { try await line.has(count) }
                                    for line in [a, b, c] { line.endChain() }
                                    for line in [a, b, c] { #expect(try await line.answers.element(1) == nil) }
                                }
                            }
                        }
                    }
                    for member in [first, second, third] { #expect(member.inbox.names == ["file-0"]) }
                    let passed = first.news.all.filter { if case .passesOn = $0 { true } else { false } }
                    #expect(passed.count == 1)
                }
            }
        }
    }

    @Test("a wrong block is neither kept nor passed on, and the right one can come from another")
    func wrongBlock() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 200_000)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                control.digests(0..<sender.blocks.count, of: sender)
                try await sender.link(to: member, 1) { liar in
                    try await liar.heard.element(1)
                    var wrong = sender.blocks[1]
                    wrong.setInteger(~(wrong.getInteger(at: 9, as: UInt8.self) ?? 0), at: 9)
                    liar.blocks([sender.blocks[0], wrong] + sender.blocks[2...])
                    try await control.heard.first { $0 == .trouble(.wrong, link: 1) }
                    control.place(2, GroupSender.previous(2, WaftLoopback.other))
                    try await liar.ended.element(1)
                    try await sender.link(to: member, 2, as: WaftLoopback.other) { link in
                        #expect(try await link.heard.element(1).has == 1)
                        link.blocks(sender.blocks[1...])
                        try await control.has(sender.blocks.count)
                        control.endChain()
                        #expect(try await control.answers.element(1) == nil)
                    }
                }
            }
            #expect(member.inbox.names == ["file-0"])
        }
    }

    @Test("a wrong token, another peer and an unknown group get the same answer, and a token is used up")
    func refusals() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 100)
            let unknown = try await sender.refusal(member, .relay(sender.group))
            #expect(unknown.status == 403)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                try await control.has(0)
                let other = try await sender.refusal(member, .relay(sender.group), as: WaftLoopback.other)
                #expect(other == unknown)
                let wrong = try await sender.refusal(member, .relay(sender.group), token: GroupSender.token(2))
                #expect(wrong == unknown)
                let right = try await sender.refusal(member, .relay(sender.group))
                #expect(right == unknown)
            }
        }
    }

    @Test("after the sender's death a member keeps what has come, and says so when it is offered again")
    func senderDies() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 3_000_000)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                control.digests(0..<sender.blocks.count, of: sender)
                try await sender.link(to: member, 1) { link in
                    try await link.heard.element(1)
                    link.blocks(sender.blocks[..<32])
                    try await control.has(32)
                    control.end()
                    #expect(try await member.end(of: sender.offer.transfer)?.code == .interrupted)
                    try await link.ended.element(1)
                }
            }
            let verdict = try await member.offer(sender.offer)
            #expect(verdict.items[0].hasKept)
        }
    }

    @Test("a member whose user cancels leaves, and says why")
    func cancelled() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 300_000)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                try await control.has(0)
                #expect(member.reception.cancel(sender.offer.transfer))
                try await control.heard.first { $0 == .leaving }
                let answer = try await control.answers.element(1)
                #expect(answer?.code == .cancelled && answer?.message == "the other side has cancelled the transfer")
            }
            #expect(try await member.end(of: sender.offer.transfer)?.code == .cancelled)
        }
    }

    @Test("a member whose disk refuses the contents leaves, and says why")
    func diskFault() async throws {
        let inbox = MemoryInbox { operation in
            if case .write(let total) = operation, total > 100_000 {
                TransferError(.noRoom, "the disk is full")
            } else {
                nil
            }
        }
        try await WaftLoopback.run(inbox: inbox, mayRelay: true) { member in
            let sender = GroupSender(size: 300_000)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                control.digests(0..<sender.blocks.count, of: sender)
                try await sender.link(to: member, 1) { link in
                    try await link.heard.element(1)
                    link.blocks(sender.blocks)
                    try await control.heard.first { $0 == .leaving }
                    #expect(try await control.answers.element(1)?.code == .noRoom)
                    try await link.ended.element(1)
                }
            }
        }
    }

    @Test("a sender that cancels is answered, and what has come is kept")
    func senderCancels() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 300_000)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                control.say { $0.writeFrame(.cancel(TransferError(.cancelled, "no more", cause: .user))) }
                let answer = try await control.answers.element(1)
                #expect(answer == .senderCancelled)
            }
            let fault = try await member.end(of: sender.offer.transfer)
            #expect(fault == .senderCancelled)
        }
    }

    @Test("a stream that begins before the end of a kept part cuts that part back")
    func cutBack() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 3_000_000)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                control.digests(0..<sender.blocks.count, of: sender)
                try await sender.link(to: member, 1) { link in
                    try await link.heard.element(1)
                    link.blocks(sender.blocks[..<40])
                    try await control.has(40)
                    control.end()
                    try await member.end(of: sender.offer.transfer)
                }
            }
            let again = GroupSender(size: 3_000_000, from: 1 << 20)
            try await again.control(member) { control in
                control.place(1, GroupSender.previous(1))
                control.digests(0..<again.blocks.count, of: again)
                try await again.link(to: member, 1) { link in
                    try await link.heard.element(1)
                    link.blocks(again.blocks)
                    try await control.has(again.blocks.count)
                    control.endChain()
                    #expect(try await control.answers.element(1) == nil)
                }
            }
            #expect(member.inbox.names == ["file-0"])
        }
    }

    @Test("a member that the sender takes out ends without an answer, and takes the contents on another connection")
    func out() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 300_000)
            try await sender.control(member) { control in
                control.place(1, GroupSender.previous(1))
                control.say { $0.writeGroupMessage(.out(.slow)) { _ in sender.digest(0) } }
                #expect(try await member.end(of: sender.offer.transfer)?.code == .interrupted)
                try await control.ended.element(1)
                #expect(control.answers.count == 0)
            }
            let again = try await member.offer(sender.offer)
            #expect(again.acceptsAnything)
        }
    }

    @Test("while its next is not linked a member reads no more than its ring, and goes on when it is the tail")
    func ringIsFull() async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 140 * GroupLimits.blockBytes)
            let ring = GroupLimits().ring
            try await sender.control(member) { control in
                // Nobody has a place for the other end: the answer is 403.
                control.place(1, GroupSender.previous(1), try GroupSender.next(2, member))
                control.digests(0..<sender.blocks.count, of: sender)
                try await sender.link(to: member, 1) { link in
                    try await link.heard.element(1)
                    link.blocks(sender.blocks)
                    try await control.heard.first { $0 == .trouble(.unreachable, link: 2) }
                    try await control.has(ring)
                    let most = control.heard.all.map { if case .beat(let has) = $0 { has } else { 0 } }.max()
                    #expect(most == ring)
                    control.place(2, GroupSender.previous(1))
                    try await control.has(sender.blocks.count)
                    control.endChain()
                    #expect(try await control.answers.element(1) == nil)
                }
            }
        }
    }

    @Test("a next that never reads holds a member up to its ring only, and a new place frees it")
    func deafNext() async throws {
        try await Self.run { first in
            try await Self.run { deaf in
                let sender = GroupSender(size: 140 * GroupLimits.blockBytes)
                let ring = GroupLimits().ring
                try await sender.control(first) { a in
                    try await sender.control(deaf) { b in
                        // Without digests it reads nothing.
                        b.place(1, GroupSender.previous(2, WaftLoopback.other))
                        a.place(2, GroupSender.previous(1), try GroupSender.next(2, deaf))
                        a.digests(0..<sender.blocks.count, of: sender)
                        try await sender.link(to: first, 1) { link in
                            try await link.heard.element(1)
                            link.blocks(sender.blocks)
                            try await first.news.first { if case .passesOn = $0 { true } else { false } }
                            try await a.has(ring)
                            let most = a.heard.all.map { if case .beat(let has) = $0 { has } else { 0 } }.max()
                            #expect(most == ring)
                            a.place(3, GroupSender.previous(1))
                            try await a.has(sender.blocks.count)
                            a.endChain()
                            #expect(try await a.answers.element(1) == nil)
                        }
                    }
                }
            }
        }
    }

    @Test(
        "a sender that names this machine, a port of the system, or 10,000 places ends its member",
        arguments: [
            (Place.Next.hostile(.v4(0x7F00_0001), 9_000), 1, GroupError.dial(.loopback)),
            (.hostile(.v4(0xC000_0207), 22), 1, .dial(.port(22))),
            (.hostile(.v4(0xC000_0207), 9_000), 10_000, .tooManyPlaces),
        ])
    func hostilePlaces(next: Place.Next, count: Int, fault: GroupError) async throws {
        try await Self.run { member in
            let sender = GroupSender(size: 300_000)
            try await sender.control(member) { control in
                for epoch in 1...Epoch(count) { control.place(epoch, GroupSender.previous(1), next) }
                try await member.news.first { if case .ended(_, _, .fault(fault)) = $0 { true } else { false } }
                #expect(try await member.end(of: sender.offer.transfer)?.code == .interrupted)
                try await control.ended.element(1)
            }
        }
    }

    @Test("a new next in the middle gets all blocks from the ring")
    func otherNext() async throws {
        try await Self.run { first in
            try await Self.run { second in
                try await Self.run { third in
                    let sender = GroupSender(size: 1_500_000)
                    let count = sender.blocks.count
                    try await sender.control(first) { a in
                        try await sender.control(second) { b in
                            try await sender.control(third) { c in
                                b.place(1, GroupSender.previous(2, WaftLoopback.other))
                                a.place(2, GroupSender.previous(1), try GroupSender.next(2, second))
                                for line in [a, b, c] { line.digests(0..<count, of: sender) }
                                try await sender.link(to: first, 1) { link in
                                    try await link.heard.element(1)
                                    link.blocks(sender.blocks[..<10])
                                    try await b.has(10)
                                    b.end()
                                    c.place(3, GroupSender.previous(3, WaftLoopback.other))
                                    a.place(4, GroupSender.previous(1), try GroupSender.next(3, third))
                                    link.blocks(sender.blocks[10...])
                                    for line in [a, c] { try await line.has(count) }
                                    for line in [a, c] { line.endChain() }
                                    for line in [a, c] { #expect(try await line.answers.element(1) == nil) }
                                }
                            }
                        }
                    }
                    for member in [first, third] { #expect(member.inbox.names == ["file-0"]) }
                }
            }
        }
    }
}

@Suite("Places in groups", .timeLimit(.minutes(1)))
struct GroupPlacesTests {
    @Test("only a peer whose verdict says so begins a control connection, and once")
    func notReserved() async throws {
        try await WaftLoopback.run { member in
            let sender = GroupSender(size: 100)
            let verdict = try await member.offer(sender.offer)
            #expect(verdict.acceptsAnything && !verdict.mayRelay)
            #expect(try await sender.refusal(member, .group(sender.group)).status == 403)
        }
        try await WaftLoopback.run(mayRelay: true) { member in
            let sender = GroupSender(size: 100)
            try await sender.control(member) { _ in
                let again = try await sender.refusal(member, .group(sender.group))
                let other = try await sender.refusal(member, .group(sender.group), as: WaftLoopback.other)
                #expect(again.status == 403 && other.status == 403)
            }
        }
    }

    @Test("contacts have all places, strangers together one, and each peer one")
    func counts() {
        let places = GroupPlaces()
        func reserve(_ peer: UInt8, _ group: GroupID = GroupID(), isContact: Bool = true) -> Bool {
            places.reserve(
                group, for: TransferID(), of: .sample(peer), isContact: isContact, isOpen: { _, _ in true })
        }
        let group = GroupID()
        #expect(reserve(1, group, isContact: false))
        #expect(places.begin(group, of: .sample(2)) == nil)
        #expect(places.begin(group, of: .sample(1)) != nil)
        #expect(places.begin(group, of: .sample(1)) == nil)
        #expect(!reserve(1))
        #expect(!reserve(2, group))
        #expect(!reserve(2, isContact: false))
        #expect(reserve(2))
        #expect(!reserve(3))
        places.leave(group)
        #expect(reserve(3))
    }

    @Test("peers that hold all places keep nobody from a stream of its own")
    func squatters() async throws {
        try await WaftLoopback.run(mayRelay: true) { member in
            for peer in [WaftLoopback.other, WaftLoopback.third] {
                let verdict = try await member.offer(GroupSender(size: 300_000).offer, as: peer)
                #expect(verdict.mayRelay)
            }
            let sources = [MemorySource.file("image.iso", GroupStreamTests.bytes(2_000_000))]
            var offer = Offer(of: sources)
            offer.group = OfferedGroup(id: GroupID(), members: 3)
            let verdict = try await member.offer(offer)
            #expect(verdict.acceptsAnything && !verdict.mayRelay)
            offer.transfer = TransferID()
            let result = try await member.send(sources, offer: offer)
            #expect(result.items.map(\.word) == ["stored"])
        }
    }

    @Test("a place whose offer is over is free again")
    func expired() {
        let places = GroupPlaces()
        let old = TransferID()
        for _ in 0..<3 {
            #expect(
                places.reserve(GroupID(), for: old, of: .sample(1), isContact: true) { $0 != old || $1 != .sample(1) })
        }
        #expect(places.reserve(GroupID(), for: TransferID(), of: .sample(2), isContact: true) { _, _ in false })
        let third = TransferID()
        #expect(places.reserve(GroupID(), for: third, of: .sample(3), isContact: true) { _, _ in true })
        #expect(!places.reserve(GroupID(), for: TransferID(), of: .sample(4), isContact: true) { _, _ in true })
        places.forget(third, of: .sample(3))
        #expect(places.reserve(GroupID(), for: TransferID(), of: .sample(4), isContact: true) { _, _ in true })
    }
}
