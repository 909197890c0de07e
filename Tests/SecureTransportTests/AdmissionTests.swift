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
        limits.connectionsPerAddress = 3
        limits.connectionsPerPeer = 2
        return limits
    }

    @Test("one address with too many unfinished connections loses its own oldest")
    func perAddress() throws {
        var admission = Admission(limits: limits)
        let other = admission.admit(from: try key("10.0.0.2")).id
        let ids = try (0..<4).map { _ in admission.admit(from: try key("10.0.0.1")).id }
        #expect(admission.admit(from: try key("10.0.0.1")).evicted == ids[0])
        #expect(admission.admit(from: try key("10.0.0.1")).evicted == ids[1])
        #expect(admission.finish(other, as: Identities.alice.peerID) == .accepted)
        #expect(admission.finish(ids[0], as: Identities.alice.peerID) == .evicted)
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

    @Test("finished connections are limited by peer, by address and in all, and the newest is refused")
    func finished() throws {
        var admission = Admission(limits: limits)
        let peers = [Identities.alice, Identities.bob, Identities.mallory].map(\.peerID)
        func finish(_ peer: PeerID, _ host: String) throws -> (Admission.ID, Admission.Finish) {
            let id = admission.admit(from: try key(host)).id
            return (id, admission.finish(id, as: peer))
        }
        let first = try finish(peers[0], "10.0.0.1")
        #expect(first.1 == .accepted)
        #expect(try finish(peers[0], "10.0.0.1").1 == .accepted)
        #expect(try finish(peers[0], "10.0.0.9").1 == .refused)
        #expect(try finish(peers[1], "10.0.0.1").1 == .accepted)
        #expect(try finish(peers[1], "10.0.0.1").1 == .refused)
        #expect(try finish(peers[1], "10.0.0.2").1 == .accepted)
        #expect(try finish(peers[2], "10.0.0.3").1 == .refused)
        #expect(admission.finishedCount == 4)
        admission.remove(first.0)
        admission.remove(first.0)
        #expect(admission.finishedCount == 3)
        #expect(try finish(peers[2], "10.0.0.3").1 == .accepted)
        #expect(admission.unfinishedCount == 0)
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

    @Test("with no descriptors left, accepting pauses, somebody makes room, and it goes on")
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
    @Test("what happens often is reported once a minute, with how often it was")
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

    @Test("what was announced before the end is waited for")
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
