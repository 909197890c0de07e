import Digests
import Executors
package import Groups
import HTTPChannel
import NIOCore
import SecureTransport
package import Sharing
import Streams
import Synchronization

/// One group at its sender. The task of each member comes here with the verdict of its offer; it gets the result of the
/// chain, or goes on with a stream of its own.
///
/// The ledger decides, and its actions are carried out in their order, under one lock. Each control connection has a thread,
/// and so has each link to a head.
package final class GroupSending: Sendable {
    /// How the member before reaches this one.
    package struct Location: Sendable {
        /// Not loopback; at most `GroupLimits.addresses`.
        package var addresses: [NetworkAddress]
        package var port: UInt16
        /// The interface of a link-local address.
        package var scope: UInt32?

        package init(addresses: [NetworkAddress], port: UInt16, scope: UInt32?) {
            (self.addresses, self.port, self.scope) = (addresses, port, scope)
        }
    }

    /// One member's part in the group, as its task needs it.
    package struct Member {
        /// Its number.
        package var number: Int
        package var peer: PeerID
        /// Nil if no other member reaches it.
        package var location: Location?
        package var offer: Offer
        package var verdict: Verdict
        package var memory: SendMemory
        /// When requested, informs this member.
        package var cancellation: Cancellation
        /// How long the other side may be silent while it answers HTTP.
        package var timeout: Duration
        /// How long it may work on one answer of HTTP.
        package var maximum: Duration
        /// Called with the bytes of the stream that the member has.
        package var progressed: @Sendable (UInt64) -> Void

        package init(
            _ number: Int, _ peer: PeerID, at location: Location?, _ offer: Offer, _ verdict: Verdict,
            memory: SendMemory, cancellation: Cancellation,
            timeout: Duration, stall: Duration, progressed: @escaping @Sendable (UInt64) -> Void
        ) {
            (self.number, self.peer, self.location, self.offer) = (number, peer, location, offer)
            (self.verdict, self.memory, self.cancellation) = (verdict, memory, cancellation)
            (self.timeout, self.progressed) = (timeout, progressed)
            maximum = stall + Limits.work(on: offer.knownSize)
        }
    }

    package let offered: OfferedGroup
    let sources: [any ItemSource]
    let dialHead: HeadDialing
    let state: Mutex<State>
    /// Says that something has changed.
    let changes = Broadcast<Void>(buffer: .bufferingNewest(1))

    /// - Parameters:
    ///   - sources: repeatable, of known sizes; the same for all members.
    ///   - members: `GroupLimits.minimumMembers`...`GroupLimits.maximumMembers`.
    ///   - own: the sender's key.
    package init(
        _ sources: [any ItemSource], members: Int, own: PeerID, dial: @escaping HeadDialing
    ) {
        offered = OfferedGroup(id: GroupID(), members: members)
        (self.sources, dialHead) = (sources, dial)
        let ledger = SenderLedger(members: members, own: own, tokens: RandomTokens(), at: .now)
        state = Mutex(State(ledger: ledger, seats: Array(repeating: Seat(), count: members)))
    }

    /// Lets the time of the group pass, until each member has an outcome, or the task is cancelled.
    package func run() async {
        while let next = state.withLock({ $0.ledger.nextDeadline }), !Task.isCancelled {
            try? await Task.sleep(until: next, clock: .continuous)
            act { $0.tick(at: .now) }
        }
    }

    /// Waits until no more answers are collected.
    package func gathered() async { _ = try? await find { $0.ledger.isGathering ? nil : true } }

    /// Begins without the answers that are missing.
    package func begin() { act { $0.begin(at: .now) } }

    /// The task of a member has ended, with an outcome or without an answer.
    package func left(_ member: Int) {
        act { ledger in
            if ledger.members[member].state == .asked { return ledger.answered(member, .no, at: .now) }
            return ledger.closed(member: member, at: .now)
        }
        opened(member, nil)
    }

    // MARK: A member's task

    /// A peer is about to get the offer as a member.
    ///
    /// - Returns: false if it is another member already, by another of its names: it gets an offer to it alone.
    package func enter(_ member: Int, as peer: PeerID) -> Bool {
        let isNew = state.withLock { state in
            if state.seats.indices.contains(where: { $0 != member && state.seats[$0].peer == peer }) { return false }
            state.seats[member].peer = peer
            return true
        }
        if !isNew { left(member) }
        return isNew
    }

    /// Takes part in the group with the contents of an accepted offer.
    ///
    /// - Parameter client: on the connection of the offer, which a member of the chain uses up.
    /// - Returns: nil if the contents go on a stream of its own now, on the same connection.
    /// - Throws: `LeftChain` when the chains are over and the sending to the member is to be resumed; `HTTPError` if it was
    ///   lost, and `CancellationError`.
    package func join(_ member: Member, by client: WaftClient) async throws -> SendResult? {
        let number = member.number
        guard state.withLock({ $0.ledger.members[number].state == .asked }) else { return nil }
        guard member.verdict.mayRelay, let answer = try await yes(of: member, by: client) else {
            act { $0.answered(number, .yesAlone, at: .now) }
            return try await wait(for: member, by: client)
        }
        let isLate = state.withLock { !$0.ledger.isGathering }
        // A member that is too late for the chain keeps its offer, and hears nothing of the chain.
        if isLate, case .yes(let terms) = answer,
            try await !find(member.cancellation, { $0.ledger.isUnderWay ? $0.ledger.hasRoom(for: terms) : nil })
        {
            act { $0.answered(number, .yesAlone, at: .now) }
            return try await wait(for: member, by: client)
        }
        if !isLate { act { $0.answered(number, answer, at: .now) } }
        guard let stream = try await contents(for: member, isLate: isLate) else {
            if isLate { act { $0.answered(number, .yesAlone, at: .now) } }
            return try await wait(for: member, by: client)
        }
        let control = try? await client.beginControl(of: offered.id, stream.size, timeout: GroupLimits().dial)
        let nudge = control == nil ? nil : try Nudge()
        opened(number, nudge)
        guard let control, let nudge else { throw LeftChain() }
        if isLate { act { $0.answered(number, answer, at: .now) } }
        let (result, wasClosed) = try await converse(member, control, nudge)
        if let result { return result }
        // A chain has the sender's rate until it is over.
        let outcome = try await find(member.cancellation) {
            $0.ledger.chains.isEmpty ? $0.ledger.members[number].state : nil
        }
        guard outcome == .lost else { throw LeftChain() }
        throw wasClosed ? HTTPError.closed : HTTPError.silence
    }

    /// A member has left its chain, or could not begin with it: it gets a stream of its own.
    package struct LeftChain: Error {}

    /// The member's yes, with what it has kept.
    /// - Returns: nil if no other member reaches it, or if it has an item already: then the contents are compared.
    private func yes(of member: Member, by client: WaftClient) async throws -> MemberAnswer? {
        guard let location = member.location, member.verdict.items.allSatisfy({ $0.present == nil }) else { return nil }
        var kept: KeptList?
        if member.verdict.items.contains(where: { $0.answer == .accepted && $0.hasKept }) {
            kept = try await client.kept(of: member.offer, timeout: member.timeout, maximum: member.maximum)
        }
        return state.withLock { state in
            state.seats[member.number].scope = location.scope
            (state.seats[member.number].verdict, state.seats[member.number].kept) = (member.verdict, kept)
            let terms = member.verdict.items.map(\.answer.rawValue) + [member.verdict.digest.rawValue]
            let number = state.terms.firstIndex(of: terms) ?? state.terms.count
            if number == state.terms.count { state.terms.append(terms) }
            return .yes(
                MemberTerms(terms: number, peer: member.peer, addresses: location.addresses, port: location.port))
        }
    }

    /// Waits until the control connection of a member is to be opened.
    /// - Returns: nil for a stream of its own.
    private func contents(for member: Member, isLate: Bool) async throws -> GroupStream? {
        try await find(member.cancellation) { state -> GroupStream?? in
            if state.seats[member.number].isServed { return .some(nil) }
            // A late one waits for those that are in time.
            guard isLate ? state.ledger.isUnderWay : state.opening.contains(member.number) else { return nil }
            switch state.contents {
            case .unknown, .none: return isLate ? .some(nil) : nil
            case .measured(let stream): return stream
            }
        }
    }

    /// Waits until a stream of its own may begin. The accepted offer is kept valid meanwhile.
    /// - Returns: nil.
    private func wait(for member: Member, by client: WaftClient) async throws -> SendResult? {
        var asked = ContinuousClock.now
        while true {
            let isServed = try await find(member.cancellation) { [asked] state -> Bool? in
                if state.seats[member.number].isServed { return true }
                return .now - asked > Self.reminder ? false : nil
            }
            if isServed { return nil }
            _ = try await client.kept(of: member.offer, timeout: member.timeout, maximum: member.maximum)
            asked = .now
        }
    }

    /// Far below the time for which an accepted offer is valid.
    private static let reminder = Limits.contentsWait / 4

    /// Waits until `look` finds something. It is asked at each tick.
    private func find<Found: Sendable>(
        _ cancellation: Cancellation? = nil, _ look: (inout State) -> Found?
    ) async throws -> Found {
        for await _ in changes.watch(after: [()]) {
            if cancellation?.isRequested == true { break }
            if let found = state.withLock({ look(&$0) }) { return found }
        }
        throw CancellationError()
    }

    // MARK: The control connection

    /// - Returns: no result if the member has left the chain without one, and whether it has closed the connection.
    private func converse(
        _ member: Member, _ stream: SecureStream, _ nudge: Nudge
    ) async throws -> (SendResult?, wasClosed: Bool) {
        // Unsafe only for the compiler: the thread alone uses it while it runs.
        nonisolated(unsafe) let reply = ContentsReply(to: member.offer, digest: member.verdict.digest)
        let ended = await withTaskCancellationHandler {
            await BackgroundThread.run("waft-group") { [self] in
                Result { try speak(with: member, stream, nudge, reply) }
            }
        } onCancel: {
            stream.interrupt()
        }
        act { $0.closed(member: member.number, at: .now) }
        let (outcomes, has) = state.withLock { state in
            state.seats[member.number].nudge = nil
            return (state.outcomes, state.ledger.members[member.number].has)
        }
        // The stream has some bytes beside the contents.
        let moved = min(UInt64(has) * UInt64(GroupLimits.blockBytes), member.offer.knownSize)
        member.memory.note(outcomes, moved: moved)
        guard let wasClosed = try ended?.get() else { return (nil, true) }
        guard reply.isComplete else { return (nil, wasClosed) }
        let result = WaftClient.outcome(
            try reply.receipt(), reply.fault, member.offer, member.verdict, outcomes, member.memory)
        return (result, wasClosed)
    }

    /// Carries messages until the member's part has ended, on the thread of its connection.
    /// - Returns: whether the other side has closed the connection.
    private func speak(
        with member: Member, _ stream: SecureStream, _ nudge: Nudge, _ reply: ContentsReply
    ) throws -> Bool {
        defer { stream.close(lingering: Limits.lingering) }
        var decoder = GroupDecoder(MemberReading())
        var frames = ByteBuffer()
        var isCancelled = false
        while true {
            if frames.readableBytes == 0 { frames = takeFrames(for: member.number) }
            if member.cancellation.isRequested, !isCancelled {
                frames.writeFrame(.cancel(.senderCancelled))
                isCancelled = true
            }
            let isQuiet = frames.readableBytes == 0
            do {
                var heard = try stream.turn(&frames, until: .now() + Self.turn, nudge: nudge) ?? ByteBuffer()
                while let message = try decoder.next(&heard) {
                    act { $0.receive(message, from: member.number, at: .now) }
                    if case .beat(let has) = message { member.progressed(UInt64(has) * UInt64(GroupLimits.blockBytes)) }
                }
                if decoder.isOver, !reply.isComplete {
                    try reply.read(decoder.rest(&heard))
                    if reply.isComplete { act { $0.receipt(member.number, at: .now) } }
                }
            } catch SecureStreamError.closed {
                if isCancelled { throw CancellationError() }
                return true
            } catch SecureStreamError.interrupted {
                throw CancellationError()
            }
            if isCancelled, reply.isComplete { throw CancellationError() }
            if isQuiet, isOver(member.number, isAnswered: reply.isComplete) { return false }
        }
    }

    private static let turn = TimeAmount.milliseconds(100)

    /// Whether nothing more passes the control connection of a member.
    private func isOver(_ member: Int, isAnswered: Bool) -> Bool {
        state.withLock { state in
            // The last message of the member may have an answer.
            guard state.seats[member].frames.readableBytes == 0 else { return false }
            return switch state.ledger.members[member].state {
            case .asked, .ready, .placed: isAnswered
            case .whole: isAnswered && state.ledger.chains.allSatisfy { !$0.contains(member) }
            case .declined, .received: isAnswered
            case .alone, .lost: true
            }
        }
    }
}
