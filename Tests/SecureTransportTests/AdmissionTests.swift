import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Sharing
import Testing

@testable import SecureTransport

@Suite struct AdmissionTests {
    private func key(_ host: String) throws -> AddressKey {
        AddressKey(try SocketAddress(ipAddress: host, port: 1))
    }

    private var limits: TransportLimits {
        var limits = TransportLimits()
        limits.unfinishedConnections = 6
        limits.unfinishedConnectionsPerAddress = 4
        limits.connections = 4
        limits.connectionsOfStrangers = 4
        limits.connectionsPerAddress = 3
        limits.connectionsPerPeer = 2
        limits.displaceableAfter = .seconds(5)
        return limits
    }

    @Test("one address with too many unfinished connections loses its own oldest")
    func perAddress() throws {
        var admission = Admission(limits: limits)
        let other = admission.admit(from: try key("10.0.0.2")).id
        let ids = try (0..<4).map { _ in admission.admit(from: try key("10.0.0.1")).id }
        #expect(admission.admit(from: try key("10.0.0.1")).evicted == ids[0])
        #expect(admission.admit(from: try key("10.0.0.1")).evicted == ids[1])
        #expect(admission.finish(other, as: alice, isContact: false, at: .now) == .accepted(displaced: nil))
        #expect(admission.finish(ids[0], as: alice, isContact: false, at: .now) == .evicted)
    }

    @Test("with too many in all, the address that has most loses its oldest")
    func inAll() throws {
        var admission = Admission(limits: limits)
        _ = admission.admit(from: try key("10.0.0.1"))
        let many = try (0..<3).map { _ in admission.admit(from: try key("10.0.0.2")).id }
        _ = try (0..<2).map { _ in admission.admit(from: try key("10.0.0.3")) }
        #expect(admission.admit(from: try key("10.0.0.4")).evicted == many[0])
        #expect(admission.unfinishedCount == 6)
    }

    @Test("among addresses that have equally many, the oldest goes")
    func oldest() throws {
        var admission = Admission(limits: limits)
        let ids = try (0..<6).map { admission.admit(from: try key("10.0.0.\($0)")).id }
        #expect(admission.admit(from: try key("10.0.1.1")).evicted == ids[0])
        #expect(admission.evictOldest() == ids[1])
        #expect(admission.unfinishedCount == 5)
    }

    @Test("finished connections of strangers are limited by peer, by address and in all, and the newest is refused")
    func finished() throws {
        var crowd = Crowd(limits)
        let first = try crowd.comes(alice, from: "10.0.0.1")
        #expect(first.finish == .accepted(displaced: nil))
        #expect(try crowd.comes(alice, from: "10.0.0.1").finish == .accepted(displaced: nil))
        #expect(try crowd.comes(alice, from: "10.0.0.9").finish == .refused)
        #expect(try crowd.comes(bob, from: "10.0.0.1").finish == .accepted(displaced: nil))
        #expect(try crowd.comes(bob, from: "10.0.0.1").finish == .refused)
        #expect(try crowd.comes(bob, from: "10.0.0.2").finish == .accepted(displaced: nil))
        #expect(try crowd.comes(mallory, from: "10.0.0.3").finish == .refused)
        #expect(crowd.admission.finishedCount == 4)
        crowd.admission.remove(first.id)
        crowd.admission.remove(first.id)
        #expect((crowd.admission.finishedCount, crowd.admission.strangerCount) == (3, 3))
        #expect(try crowd.comes(mallory, from: "10.0.0.3").finish == .accepted(displaced: nil))
        #expect(crowd.admission.unfinishedCount == 0)
    }

    @Test("strangers do not get the places that are kept for contacts, whose address does not count")
    func placesOfContacts() throws {
        var limits = self.limits
        limits.connectionsOfStrangers = 2
        var crowd = Crowd(limits)
        for _ in 0..<2 { #expect(try crowd.comes(mallory, from: "10.0.0.1").finish == .accepted(displaced: nil)) }
        #expect(try crowd.comes(bob, from: "10.0.0.2").finish == .refused)
        for _ in 0..<2 {
            #expect(try crowd.comes(alice, from: "10.0.0.1", isContact: true).finish == .accepted(displaced: nil))
        }
    }

    @Test("the stranger that has been idle longest makes room: for a contact at once, for a stranger after a while")
    func displaced() throws {
        var crowd = Crowd(limits)
        let ids = try (1...4).map { try crowd.comes(Self.peer($0), from: "10.0.0.\($0)").id }
        // The first is being answered, and the second was a moment ago.
        crowd.admission.note(ids[0], idleSince: nil)
        crowd.admission.note(ids[1], idleSince: crowd.start + .seconds(1))
        #expect(try crowd.comes(bob, from: "10.0.1.1", after: 4).finish == .refused)
        let contact = try crowd.comes(alice, from: "10.0.1.2", isContact: true, after: 4)
        #expect(contact.finish == .accepted(displaced: ids[2]))
        let next = try crowd.comes(bob, from: "10.0.1.1", after: 5)
        #expect(next.finish == .accepted(displaced: ids[3]))
        let last = try crowd.comes(mallory, from: "10.0.1.3", after: 6)
        #expect(last.finish == .accepted(displaced: ids[1]))
        // All that are left are busy, new, or a contact's.
        #expect(try crowd.comes(Self.peer(9), from: "10.0.1.4", after: 9).finish == .refused)
        #expect(try crowd.comes(Self.peer(9), from: "10.0.1.4", after: 100).finish == .accepted(displaced: next.id))
        #expect(try crowd.comes(Self.peer(10), from: "10.0.1.5", after: 101).finish == .accepted(displaced: last.id))
        #expect(try crowd.comes(Self.peer(11), from: "10.0.1.6", after: 102).finish == .refused)
    }

    @Test("an address, or a peer, with too many finished connections makes room by its own alone")
    func displacedOfTheSame() throws {
        var crowd = Crowd(limits)
        _ = try crowd.comes(bob, from: "10.0.0.2")
        let ids = try (1...3).map { try crowd.comes(Self.peer($0), from: "10.0.0.1", after: $0).id }
        #expect(try crowd.comes(mallory, from: "10.0.0.1", after: 60).finish == .accepted(displaced: ids[0]))
        // A contact with as many as one peer may have.
        crowd = Crowd(limits)
        _ = try crowd.comes(mallory, from: "10.0.0.1")
        let own = try (0..<2).map { _ in try crowd.comes(alice, from: "10.0.0.3", isContact: true).id }
        #expect(try crowd.comes(alice, from: "10.0.0.3", isContact: true, after: 1).finish == .refused)
        #expect(
            try crowd.comes(alice, from: "10.0.0.3", isContact: true, after: 9).finish == .accepted(displaced: own[0]))
    }

    /// For six strangers of three addresses, and two who have entered.
    private var limitsForEntering: TransportLimits {
        var limits = TransportLimits.forEntering(connectionsPerAddress: 2)
        limits.connections = 8
        limits.connectionsOfStrangers = 6
        limits.enteredPerAddress = 1
        return limits
    }

    @Test("where strangers enter, those who have not make room at once, idle ones first, and nobody is refused")
    func beforeEntry() throws {
        var crowd = Crowd(limitsForEntering)
        let busy = try crowd.comes(Self.peer(1), from: "10.0.0.1").id
        crowd.admission.note(busy, idleSince: nil)
        let idle = try crowd.comes(Self.peer(2), from: "10.0.0.1").id
        // An address has its share.
        let next = try crowd.comes(Self.peer(3), from: "10.0.0.1")
        #expect(next.finish == .accepted(displaced: idle))
        crowd.admission.note(next.id, idleSince: nil)
        #expect(try crowd.comes(Self.peer(4), from: "10.0.0.1").finish == .accepted(displaced: busy))
        // All together have theirs.
        for number in 5..<100 {
            let host = "10.0.0.\(2 + number % 50)"
            let finish = try crowd.comes(Self.peer(number), from: host).finish
            #expect(finish != .refused && finish != .evicted)
        }
        #expect(crowd.admission.strangerCount == 6)
    }

    @Test("those who have entered are counted apart, with a share for each address, and make no room")
    func entered() throws {
        var crowd = Crowd(limitsForEntering)
        let ids = try (1...3).map { try crowd.comes(Self.peer($0), from: "10.0.0.\($0 % 2)").id }
        for id in ids { crowd.admission.enter(id) }
        for id in ids { crowd.admission.enter(id) }
        // The third has the address of the first.
        #expect((crowd.admission.enteredCount, crowd.admission.strangerCount) == (2, 1))
        for number in 4..<100 {
            let finish = try crowd.comes(Self.peer(number), from: "10.0.0.\(number % 2)", after: 60).finish
            #expect(finish != .accepted(displaced: ids[0]) && finish != .accepted(displaced: ids[1]))
        }
        crowd.admission.remove(ids[0])
        #expect((crowd.admission.enteredCount, crowd.admission.finishedCount) == (1, 5))
    }

    private static func peer(_ number: Int) throws -> PeerID {
        try #require(PeerID(fingerprint: Array(repeating: UInt8(number), count: PeerID.byteCount)))
    }

    private let alice = Identities.alice.peerID
    private let bob = Identities.bob.peerID
    private let mallory = Identities.mallory.peerID

    /// Connections that come one after the other and finish their handshakes.
    private struct Crowd {
        var admission: Admission
        let start = ContinuousClock.now

        init(_ limits: TransportLimits) { admission = Admission(limits: limits) }

        mutating func comes(
            _ peer: PeerID, from host: String, isContact: Bool = false, after seconds: Int = 0
        ) throws -> (id: Admission.ID, finish: Admission.Finish) {
            let id = admission.admit(from: AddressKey(try SocketAddress(ipAddress: host, port: 1))).id
            return (id, admission.finish(id, as: peer, isContact: isContact, at: start + .seconds(seconds)))
        }
    }

    @Test("an IPv6 /64 counts as one address, link-local neighbours as themselves, and mapped IPv4 as IPv4")
    func addressKeys() throws {
        #expect(try key("2001:db8::1") == key("2001:db8::ffff:2"))
        #expect(try key("2001:db8::1") != key("2001:db8:0:1::1"))
        #expect(try key("fe80::1") != key("fe80::2"))
        #expect(try key("::ffff:10.0.0.1") == key("10.0.0.1"))
        #expect(try key("10.0.0.1") != key("10.0.0.2"))
        #expect(AddressKey(nil) != (try key("10.0.0.1")))
    }

    @Test("without descriptors accepting pauses, a callback makes room, and accepting continues")
    func pacing() throws {
        let reads = Wire()
        let exhaustions = NIOLockedValueBox(0)
        let pacer = AcceptPacer { _ in
        } onExhaustion: {
            exhaustions.withLockedValue { $0 += 1 }
        }
        let channel = EmbeddedChannel(handlers: [reads, pacer])
        channel.read()
        #expect(reads.reads == 1)
        channel.pipeline.fireErrorCaught(IOError(errnoCode: 24, reason: "accept"))
        channel.pipeline.fireErrorCaught(IOError(errnoCode: 24, reason: "accept"))
        #expect(exhaustions.withLockedValue { $0 } == 1)
        channel.read()
        #expect(reads.reads == 1)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        #expect(reads.reads == 2)
        channel.read()
        #expect(reads.reads == 3)
        _ = try channel.finish()
    }
}

@Suite struct TallyTests {
    @Test("a frequent event is reported once a minute, with its count")
    func tally() {
        var tally = Tally()
        let start = NIODeadline.uptimeNanoseconds(1)
        #expect(tally.add(now: start) == 1)
        #expect(tally.add(now: start + .seconds(1)) == nil)
        #expect(tally.add(now: start + .seconds(59)) == nil)
        #expect(tally.add(now: start + .seconds(60)) == 3)
        #expect(tally.add(now: start + .seconds(61)) == nil)
    }
}

@Suite struct HandoverTests {
    @Test("elements come out in order, and the end after them")
    func order() async {
        let handover = Handover<Int>()
        for element in 0..<3 {
            #expect(handover.announce())
            handover.give(element)
        }
        handover.finish()
        #expect(!handover.announce())
        var taken: [Int] = []
        while let element = await handover.next() { taken.append(element) }
        #expect(taken == [0, 1, 2])
    }

    @Test("the end waits for announced connections")
    func announced() async {
        let handover = Handover<Int>()
        #expect(handover.announce())
        #expect(handover.announce())
        handover.finish()
        async let first = handover.next()
        handover.give(1)
        #expect(await first == 1)
        async let second = handover.next()
        handover.withdraw()
        #expect(await second == nil)
    }

    @Test("cancelling the task that takes drops nothing")
    func cancellation() async {
        let handover = Handover<Int>()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await handover.next()
        }
        #expect(handover.announce())
        handover.give(7)
        #expect(await task.value == 7)
    }
}
