import Digests
import Executors
import Groups
import NIOCore
import SecureTransport
import Sharing
import Synchronization

/// This machine as a member of one group, from the control connection to its end.
///
/// Several threads meet here: that of the control connection, and one for each link. The `MemberLedger` decides. Its actions
/// are carried out in their order under one lock, and none of them waits: it leaves work for a thread, and nudges it.
final class GroupMembership: Sendable {
    let group: GroupID
    let stream: BlockedStream
    let contents: GroupContents
    /// Rung for the thread of the control connection.
    let nudge: Nudge
    private let reach: GroupReach
    private let id: (transfer: TransferID, sender: PeerID)
    private let state: Mutex<State>

    /// The answer to a peer that dials.
    enum ArrivalAnswer {
        /// - Parameter first: the blocks that the first report names.
        case accepted(Epoch, first: Int, Nudge)
        case refused(GroupError)
    }

    /// The link from the previous.
    private struct Incoming {
        let link: Epoch
        let nudge: Nudge
        /// Reports that have not been written.
        var reports = ByteBuffer()
        /// Nil while the connection leaves HTTP.
        var stream: SecureStream?
    }

    /// The link to the next.
    private struct Outgoing {
        /// Nil while it is dialled.
        var line: (stream: SecureStream, nudge: Nudge)?
        /// Blocks to write.
        var queue = 0..<0
    }

    private struct State {
        var ledger: MemberLedger
        /// The ring.
        var blocks: [Int: ByteBuffer] = [:]
        /// The ring has no block below this one.
        var oldest = 0
        /// Those of blocks that have not come.
        var digests: [BlockDigests] = []
        /// No block is read from this one on.
        var readable = 0
        /// Bytes for the sender.
        var words = ByteBuffer()
        /// Connections that wait for their answer.
        var arrivals: [UInt64: (CheckedContinuation<ArrivalAnswer, Never>, Nudge)] = [:]
        var arrivalCount: UInt64 = 0
        var incoming: Incoming?
        var outgoing: [Epoch: Outgoing] = [:]
        var dials: [Epoch: Task<Void, Never>] = [:]
        var end: MemberEnd?
    }

    /// - Throws: if there are no descriptors left.
    init(
        _ group: GroupID, _ stream: BlockedStream, _ transfer: IncomingTransfer, _ reception: Reception,
        _ reach: GroupReach
    ) throws {
        (self.group, self.stream, self.reach) = (group, stream, reach)
        id = (transfer.offer.transfer, transfer.peer)
        contents = GroupContents(transfer, reception, blocks: stream.blocks)
        nudge = try Nudge()
        state = Mutex(State(ledger: MemberLedger(blocks: stream.blocks, rule: reach.rule, at: .now)))
    }

    // MARK: The control connection

    /// The next step of the thread of the control connection.
    enum Step {
        /// Write the words, and listen until then.
        case talk(until: NIODeadline)
        /// The chain is over, and the transfer too.
        case answer(ContentsResult)
        case end(MemberEnd)
    }

    /// Lets time pass.
    ///
    /// - Parameter words: gets the frames that wait, if it is empty or if no other frames follow.
    func step(_ words: inout ByteBuffer) -> Step {
        let now = ContinuousClock.now
        return state.withLock { state in
            carryOut(state.ledger.tick(at: now), &state)
            // A sender that takes nothing is gone.
            if state.words.readableBytes > Self.wordsLimit { carryOut(state.ledger.senderClosed(), &state) }
            if words.readableBytes == 0 {
                words.clear()
                swap(&words, &state.words)
            }
            let isLast = state.end != nil || state.ledger.isReleased && contents.result != nil
            if isLast { words.writeBuffer(&state.words) }
            if let end = state.end { return .end(end) }
            if isLast, let result = contents.result { return .answer(result) }
            return .talk(until: .now() + TimeAmount((state.ledger.nextDeadline ?? now) - now))
        }
    }

    /// Bytes that wait for the sender at most.
    private static let wordsLimit = 64 << 10

    func hear(_ frame: SenderFrame) {
        state.withLock { state in
            carryOut(state.ledger.receive(frame.message, at: .now), &state)
            if let digests = frame.digests, state.end == nil { state.digests.append(digests) }
        }
    }

    func senderClosed() { state.withLock { carryOut($0.ledger.senderClosed(), &$0) } }

    func leave() { state.withLock { carryOut($0.ledger.leave(), &$0) } }

    func receiptSent() { state.withLock { carryOut($0.ledger.receiptSent(), &$0) } }

    /// Waits for the tasks that dialled.
    func links() async {
        for task in state.withLock({ Array($0.dials.values) }) { await task.value }
    }

    // MARK: The link from the previous

    /// Asks the ledger about a peer that dials. The answer waits for a place, 2 s at most.
    ///
    /// - Parameter peer: the key that it proved.
    /// - Throws: if there are no descriptors left.
    func arrive(_ peer: PeerID, _ token: Token) async throws -> ArrivalAnswer {
        let nudge = try Nudge()
        let answer = await withCheckedContinuation { continuation in
            state.withLock { state in
                let number = state.arrivalCount
                state.arrivalCount += 1
                state.arrivals[number] = (continuation, nudge)
                carryOut(state.ledger.arrived(number, from: peer, token, at: .now), &state)
            }
        }
        if case .refused(let error) = answer { reach.news(.refused(peer, error)) }
        return answer
    }

    /// A link has left HTTP.
    ///
    /// - Returns: whether it is still wanted.
    func began(_ stream: SecureStream, _ link: Epoch) -> Bool {
        state.withLock { state in
            guard state.incoming?.link == link else { return false }
            state.incoming?.stream = stream
            return true
        }
    }

    /// Reports for the previous, and whether the block may be read; nil when the link is over.
    func turn(of link: Epoch, block: Int) -> (reports: ByteBuffer, mayRead: Bool)? {
        state.withLock { state in
            guard let incoming = state.incoming, incoming.link == link else { return nil }
            state.incoming?.reports = ByteBuffer()
            return (incoming.reports, block < state.readable && contents.waiting < 2)
        }
    }

    /// Compares a block with its digest, passes it on, and gives it to this machine's receiver. May block on the disk.
    func take(_ block: StreamBlock, of link: Epoch) {
        let digest = state.withLock { $0.digests.lazy.compactMap { $0.digest(of: block.number) }.first }
        let isRight = block.bytes.withUnsafeReadableBytes { Digest.of(.lasting, $0) } == digest
        state.withLock { state in
            carryOut(state.ledger.received(block.number, link: link, isRight: isRight), &state, block.bytes)
            state.digests.removeAll { $0.blocks.upperBound <= state.ledger.has }
        }
        let result = contents.work()
        // A newer link may have waited for this one's block.
        state.withLock { if $0.incoming?.link != link { $0.incoming?.nudge.ring() } }
        if result?.fault != nil { leave() } else if result != nil { nudge.ring() }
    }

    /// The connection of a link is over.
    func closed(_ link: Epoch) {
        state.withLock { state in
            if state.incoming?.link == link {
                state.incoming = nil
            } else if state.outgoing.removeValue(forKey: link) == nil {
                return
            }
            carryOut(state.ledger.closed(link), &state)
        }
    }

    // MARK: The link to the next

    private func feed(_ next: Place.Next) async {
        let link = next.link
        defer { state.withLock { $0.dials[link] = nil } }
        guard let stream = await reach.dialing(next, group), let nudge = try? Nudge() else { return }
        let isWanted = state.withLock { state in
            guard state.outgoing[link] != nil else { return false }
            state.outgoing[link]?.line = (stream, nudge)
            carryOut(state.ledger.dialled(link, isOpen: true), &state)
            return true
        }
        guard isWanted else { return }
        reach.news(.passesOn(id.transfer, of: id.sender, to: next.peer))
        await BackgroundThread.run("waft-feed") {
            // A fault ends the link, and the ledger hears of its end.
            try? LinkFeed(
                stream: stream, nudge: nudge,
                next: { frame in try self.writeNext(of: link, into: &frame) },
                reported: { report in
                    self.state.withLock { self.carryOut($0.ledger.reported(report, link: link, at: .now), &$0) }
                }
            ).run()
        }
        closed(link)
    }

    private func writeNext(of link: Epoch, into frame: inout ByteBuffer) throws {
        let block = try state.withLock { state throws(TransferError) -> ByteBuffer? in
            guard let queue = state.outgoing[link]?.queue, let number = queue.first else { return nil }
            // The next has claimed a block that it did not get.
            guard let block = state.blocks[number] else { throw GroupFrame.malformed("a block was reported too early") }
            state.outgoing[link]?.queue.removeFirst()
            return block
        }
        if let block { frame.writeGroupBlock(block) }
    }

    // MARK: Actions

    /// - Parameter block: the block that has just come.
    private func carryOut(_ actions: [MemberAction], _ state: inout State, _ block: ByteBuffer? = nil) {
        for action in actions {
            switch action {
            case .accept(let connection, let link):
                guard let (continuation, nudge) = state.arrivals.removeValue(forKey: connection) else { break }
                state.incoming = Incoming(link: link, nudge: nudge)
                continuation.resume(returning: .accepted(link, first: state.ledger.has, nudge))
            case .refuse(let connection, let error):
                state.arrivals.removeValue(forKey: connection)?.0.resume(returning: .refused(error))
            case .dial(let next):
                state.outgoing[next.link] = Outgoing()
                state.dials[next.link] = Task { await self.feed(next) }
            case .hangUp(let link):
                hangUp(link, &state)
            case .read(let end):
                state.readable = end
                state.incoming?.nudge.ring()
            case .store(let number):
                guard let block else { break }
                state.blocks[number] = block
                contents.add(block)
            case .forget(let end):
                while state.oldest < end, state.blocks.removeValue(forKey: state.oldest) != nil { state.oldest += 1 }
            case .pass(let range, let link):
                guard let queue = state.outgoing[link]?.queue else { break }
                state.outgoing[link]?.queue = (queue.isEmpty ? range.lowerBound : queue.lowerBound)..<range.upperBound
                state.outgoing[link]?.line?.nudge.ring()
            case .report(let report, let link):
                guard state.incoming?.link == link else { break }
                state.incoming?.reports.writeGroupReport(report)
                state.incoming?.nudge.ring()
            case .tell(let message):
                if case .trouble(let trouble, _) = message { reach.news(.trouble(trouble)) }
                state.words.writeGroupMessage(message)
                nudge.ring()
            case .end(let end):
                state.end = end
                (state.blocks, state.digests, state.readable) = ([:], [], 0)
                nudge.ring()
            }
        }
    }

    private func hangUp(_ link: Epoch, _ state: inout State) {
        if state.incoming?.link == link {
            state.incoming?.stream?.interrupt()
            state.incoming?.nudge.ring()
            state.incoming = nil
        } else if let outgoing = state.outgoing.removeValue(forKey: link) {
            outgoing.line?.stream.interrupt()
            state.dials[link]?.cancel()
        }
    }

    /// Says how it ended.
    func tell(_ end: MemberEnd) { reach.news(.ended(id.transfer, of: id.sender, end)) }
}
