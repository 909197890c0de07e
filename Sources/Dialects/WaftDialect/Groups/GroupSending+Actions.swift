import Digests
import Executors
package import Groups
import NIOCore
package import SecureTransport
package import Sharing
import Streams
import Synchronization

/// Dials the head of a chain. Cancelling the task ends it.
///
/// - Parameter scope: the interface of a link-local address.
package typealias HeadDialing =
    @Sendable (_ next: Place.Next, _ scope: UInt32?, _ group: GroupID) async -> SecureStream?

extension GroupSending {
    struct Seat {
        /// Nil until a yes.
        var peer: PeerID?
        var verdict: Verdict?
        var scope: UInt32?
        /// Nil if the member has kept nothing.
        var kept: KeptList?
        /// Rings at the thread of the control connection, while there is one.
        var nudge: Nudge?
        /// Frames for the control connection.
        var frames = ByteBuffer()
        /// Whether a stream of its own may begin.
        var isServed = false
    }

    /// The connection to a head.
    struct Link {
        let nudge: Nudge
        var task: Task<Void, Never>?
        var stream: SecureStream?
        /// Blocks to write.
        var queue = 0..<0
    }

    enum Contents {
        case unknown
        case measured(GroupStream)
        /// They cannot be read, or have no known size.
        case none
    }

    struct State {
        var ledger: SenderLedger
        var seats: [Seat]
        /// The answers of a verdict and its digest, by their number as terms.
        var terms: [[String]] = []
        var links: [Epoch: Link] = [:]
        var contents = Contents.unknown
        /// Members whose control connections are being opened.
        var opening: Set<Int> = []

        var stream: GroupStream? { if case .measured(let stream) = contents { stream } else { nil } }

        /// How far the sources were read.
        var outcomes: [ContentsWriter.SourceState] { stream?.outcomes ?? [] }
    }

    /// Changes the ledger, and carries out what it says.
    func act(_ change: (inout SenderLedger) -> [SenderAction]) {
        state.withLock { state in
            for action in change(&state.ledger) { carryOut(action, &state) }
        }
        changes.send(())
    }

    private func carryOut(_ action: SenderAction, _ state: inout State) {
        switch action {
        case .open(let members):
            state.opening = Set(members)
            measure(members.compactMap { state.seats[$0].verdict }, members.map { state.seats[$0].kept })
        case .tell(let message, let member): tell(message, member, &state)
        case .dial(let next): dial(next, &state)
        case .hangUp(let link):
            guard let ended = state.links.removeValue(forKey: link) else { break }
            ended.task?.cancel()
            ended.stream?.interrupt()
        case .pass(let range, let link):
            guard let queue = state.links[link]?.queue else { break }
            state.links[link]?.queue = queue.isEmpty ? range : queue.lowerBound..<range.upperBound
            state.links[link]?.nudge.ring()
        case .serve(let member, _): state.seats[member].isServed = true
        // Its task resumes the sending.
        case .lost, .end: break
        }
    }

    // MARK: The beginning

    /// Finds the size of the stream, on a thread of its own.
    private func measure(_ verdicts: [Verdict], _ kept: [KeptList?]) {
        guard let verdict = verdicts.first else { return }
        let common = KeptList.common(kept)
        Task {
            let stream = await BackgroundThread.run("waft-measure") { [sources] in
                GroupStream(sources, verdict, kept: common)
            }
            state.withLock { $0.contents = stream.flatMap { $0 }.map(Contents.measured) ?? .none }
            if stream.flatMap({ $0 }) == nil { act { $0.start(blocks: 0, at: .now) } }
            changes.send(())
        }
    }

    /// The control connection of a member is open, or cannot be opened (nil).
    func opened(_ member: Int, _ nudge: Nudge?) {
        let (isLast, blocks) = state.withLock { state in
            state.seats[member].nudge = nudge
            let wasOpening = state.opening.remove(member) != nil
            return (wasOpening && state.opening.isEmpty, state.stream?.size.blocks ?? 0)
        }
        if nudge == nil { act { $0.closed(member: member, at: .now) } }
        if isLast { act { $0.start(blocks: blocks, at: .now) } }
    }

    // MARK: Control connections

    private func tell(_ message: SenderMessage, _ member: Int, _ state: inout State) {
        guard let nudge = state.seats[member].nudge else { return }
        if case .digests(let blocks) = message {
            // Those that a member of the chain can need are held: this one has been silent about its blocks.
            guard let stream = state.stream, stream.digest(of: blocks.lowerBound) != nil else {
                state.seats[member].nudge = nil
                return
            }
        }
        let stream = state.stream
        state.seats[member].frames.writeGroupMessage(message) { stream?.digest(of: $0) ?? Digest.of(.lasting, []) }
        nudge.ring()
    }

    /// The frames for a member that wait.
    func takeFrames(for member: Int) -> ByteBuffer {
        state.withLock { state in
            defer { state.seats[member].frames = ByteBuffer() }
            return state.seats[member].frames
        }
    }

    // MARK: Links to heads

    private func dial(_ next: Place.Next, _ state: inout State) {
        let scope = state.seats.first { $0.peer == next.peer }?.scope
        guard let nudge = try? Nudge() else { return }
        state.links[next.link] = Link(nudge: nudge)
        // Its first step waits until this state is whole.
        state.links[next.link]?.task = Task { await feed(next, scope, nudge) }
    }

    private func feed(_ next: Place.Next, _ scope: UInt32?, _ nudge: Nudge) async {
        let link = next.link
        let stream = await dialHead(next, scope, offered.id)
        let contents = state.withLock { state -> GroupStream? in
            guard state.links[link] != nil else { return nil }
            state.links[link]?.stream = stream
            return state.stream
        }
        guard let stream, let contents else {
            stream?.interrupt()
            return act { $0.dialled(link, isOpen: false, at: .now) }
        }
        act { $0.dialled(link, isOpen: true, at: .now) }
        let fault = await BackgroundThread.run("waft-feed") { [self] () -> (any Error)? in
            var again: BlockReader?
            let feed = LinkFeed(stream: stream, nudge: nudge) { frame in
                try self.write(link, contents, &again, into: &frame)
            } reported: { report in
                self.act { $0.reported(report, link: link, at: .now) }
            }
            do { try feed.run() } catch { return error }
            return nil
        }
        if fault.flatMap({ $0 }) is SourceError { return act { $0.breakUp(at: .now) } }
        if state.withLock({ $0.links.removeValue(forKey: link) }) != nil { act { $0.closed(link, at: .now) } }
    }

    /// Writes the next block for a head, if there is one. A block is read and hashed before, with some others.
    private func write(
        _ link: Epoch, _ contents: GroupStream, _ again: inout BlockReader?, into frame: inout ByteBuffer
    ) throws(SourceError) {
        let block = state.withLock { state -> Int? in
            guard let queue = state.links[link]?.queue, let first = queue.first else { return nil }
            state.links[link]?.queue = queue.dropFirst()
            return first
        }
        guard let block else { return }
        if try contents.read(below: block + 1, ahead: Self.hashedTogether) {
            act { $0.hashed(below: contents.count) }
        }
        frame.writeGroupBlock(try contents.block(block, again: &again))
    }

    /// Blocks whose digests go in one message.
    private static let hashedTogether = 8
}

/// Tokens from the system's random numbers.
struct RandomTokens: TokenSource {
    mutating func makeToken() -> Token {
        Token(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max))
    }
}
