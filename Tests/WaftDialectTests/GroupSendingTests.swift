import Groups
import HTTPChannel
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import WaftDialect

@Suite("A group at its sender", .timeLimit(.minutes(1)))
struct GroupSendingTests {
    /// The members by their numbers. In a chain without faults each is dialled by the one before it.
    private static let peers = [WaftLoopback.other, WaftLoopback.third, .sample(8), .sample(9)]

    private let cancellation = Cancellation()

    private func group(_ sources: [any ItemSource], members: Int) -> GroupSending {
        GroupSending(sources, members: members, own: WaftLoopback.peer) { next, _, group in
            await GroupSender.dial(next, group)
        }
    }

    /// Runs receivers, of which the last one may be no member of a chain.
    private func receivers(
        _ count: Int, lastRelays: Bool = true, _ running: [WaftLoopback] = [],
        _ body: @Sendable ([WaftLoopback]) async throws -> Void
    ) async throws {
        if running.count == count { return try await body(running) }
        try await WaftLoopback.run(mayRelay: lastRelays || running.count < count - 1) { next in
            try await receivers(count, lastRelays: lastRelays, running + [next], body)
        }
    }

    private enum Outcome: Equatable {
        case sent(Bool)
        case alone
        case left
    }

    /// Offers to one receiver, and takes part.
    /// - Parameter isBusy: the receiver has no place for its control connection any more.
    private func take(
        _ number: Int, of group: GroupSending, _ receiver: WaftLoopback, _ sources: [any ItemSource], isBusy: Bool
    ) async throws -> Outcome {
        defer { group.left(number) }
        return try await receiver.client { client in
            var offer = Offer(items: sources.map(\.offered), senderName: "attic", dialect: .waft)
            offer.group = group.offered
            let verdict = try await client.offer(offer, timeout: .seconds(60))
            if isBusy {
                // The place of a peer is that of its last group.
                var other = Offer(of: [MemorySource.file("other", [1])])
                other.group = OfferedGroup(id: GroupID(), members: 3)
                #expect(try await receiver.offer(other).mayRelay)
            }
            let before = (1...2).contains(number) ? Self.peers[number - 1] : WaftLoopback.peer
            let location = GroupSending.Location(
                addresses: [.v4(0xC000_0207)], port: UInt16(try receiver.port(for: before)), scope: nil)
            let member = GroupSending.Member(
                number, Self.peers[number], at: number < 3 || isBusy ? location : nil, offer, verdict,
                memory: SendMemory(), cancellation: cancellation,
                timeout: .seconds(60), stall: .seconds(60)
            ) { _ in }
            do {
                guard let result = try await group.join(member, by: client) else { return .alone }
                return .sent(
                    result.items.allSatisfy { if case .acknowledged(let item, _) = $0 { item.isStored } else { false } }
                )
            } catch is GroupSending.LeftChain {
                return .left
            }
        }
    }

    private func outcomes(
        _ group: GroupSending, _ receivers: [WaftLoopback], _ sources: [any ItemSource], busy: Int? = nil
    ) async throws -> [Outcome] {
        try await withThrowingTaskGroup(of: (Int, Outcome)?.self) { tasks in
            tasks.addTask {
                await group.run()
                return nil
            }
            for (number, receiver) in receivers.enumerated() {
                tasks.addTask { (number, try await take(number, of: group, receiver, sources, isBusy: number == busy)) }
            }
            var outcomes = Array(repeating: Outcome.left, count: receivers.count)
            for try await case (let number, let outcome)? in tasks { outcomes[number] = outcome }
            return outcomes
        }
    }

    @Test("three receivers get the contents by a chain, with a receipt of each")
    func chain() async throws {
        try await receivers(3) { receivers in
            let sources: [any ItemSource] = [MemorySource.file("image.iso", GroupStreamTests.bytes(3_000_000))]
            let group = group(sources, members: 3)
            let outcomes = try await outcomes(group, receivers, sources)
            #expect(outcomes == [.sent(true), .sent(true), .sent(true)])
            for receiver in receivers { #expect(receiver.inbox.names == ["image.iso"]) }
            for receiver in receivers[..<2] {
                #expect(receiver.news.all.contains { if case .passesOn = $0 { true } else { false } })
            }
        }
    }

    @Test("a receiver that does not pass on gets a stream of its own, on the connection of its offer")
    func alone() async throws {
        try await receivers(4, lastRelays: false) { receivers in
            let sources: [any ItemSource] = [MemorySource.file("image.iso", GroupStreamTests.bytes(2_000_000))]
            let group = group(sources, members: 4)
            let outcomes = try await outcomes(group, receivers, sources)
            #expect(outcomes == [.sent(true), .sent(true), .sent(true), .alone])
        }
    }

    @Test("a receiver that refuses its control connection is left out, and the others are a chain")
    func busy() async throws {
        try await receivers(4) { receivers in
            let sources: [any ItemSource] = [MemorySource.file("image.iso", GroupStreamTests.bytes(2_000_000))]
            let group = group(sources, members: 4)
            let outcomes = try await outcomes(group, receivers, sources, busy: 3)
            #expect(outcomes == [.sent(true), .sent(true), .sent(true), .left])
        }
    }

    @Test("receivers that have the item already get no blocks: it is compared on the connection of the offer")
    func present() async throws {
        try await receivers(3) { receivers in
            let sources: [any ItemSource] = [MemorySource.file("image.iso", GroupStreamTests.bytes(2_000_000))]
            let first = try await outcomes(group(sources, members: 3), receivers, sources)
            #expect(first == [.sent(true), .sent(true), .sent(true)])
            let second = try await outcomes(group(sources, members: 3), receivers, sources)
            #expect(second == [.alone, .alone, .alone])
        }
    }

    @Test("a peer that has two names is one member")
    func twice() {
        let group = group([], members: 3)
        #expect(group.enter(0, as: WaftLoopback.other))
        #expect(!group.enter(1, as: WaftLoopback.other))
        #expect(group.enter(0, as: WaftLoopback.other))
        #expect(group.enter(2, as: WaftLoopback.third))
    }

    @Test("contents that change end the chain, and each receiver gets a stream of its own")
    func changed() async throws {
        try await receivers(3) { receivers in
            let sources: [any ItemSource] = [ChangingSource(GroupStreamTests.bytes(3_000_000), at: 2_000_000)]
            let group = group(sources, members: 3)
            let outcomes = try await outcomes(group, receivers, sources)
            #expect(outcomes == [.left, .left, .left])
            for receiver in receivers { #expect(receiver.inbox.names == []) }
        }
    }

    @Test("a cancel of the sender reaches the members, also while one has not answered")
    func cancelled() async throws {
        try await receivers(3) { receivers in
            let sources: [any ItemSource] = [MemorySource.file("image.iso", GroupStreamTests.bytes(2_000_000))]
            let group = group(sources, members: 4)
            let ended = Task { try await outcomes(group, receivers, sources) }
            for receiver in receivers {
                try await receiver.events.first { if case .judged = $0 { true } else { false } }
            }
            cancellation.request()
            await #expect(throws: CancellationError.self) { _ = try await ended.value }
            group.left(3)
        }
    }
}

/// A file that changes after it was measured.
private final class ChangingSource: ItemSource {
    private let (before, after): (MemorySource, MemorySource)
    private let opened = Mutex(0)

    init(_ bytes: [UInt8], at place: UInt64) {
        before = .file("image.iso", bytes)
        after = .file("image.iso", bytes, fault: .after(place))
    }

    var offered: OfferedItem { before.offered }
    var origin: String { before.origin }

    func open() throws(SourceError) -> any ItemReading {
        let isFirst = opened.withLock { opened in
            opened += 1
            return opened == 1
        }
        return try isFirst ? before.open() : after.open()
    }
}
