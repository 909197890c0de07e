import Digests
import Executors
import Groups
import HTTPChannel
import NIOCore
import NIOHTTP1
import SecureTransport
import Sharing
import Synchronization
import TestSupport
import Testing

@testable import WaftDialect

/// The sender of a group, written by hand: each step is that of a test.
struct GroupSender {
    let offer: Offer
    let group: GroupID
    let blocks: [ByteBuffer]
    let bytes: Int

    /// The members' networks. The dialling of tests goes to loopback in any case.
    static let rule = DialRule(subnets: [Subnet(.v4(0xC000_0200), prefixLength: 24)], own: [])

    static let dial: LinkDialing = { next, group in
        try? await SecureLoopback.http(Int(next.port)) { http in
            try await WaftClient(http).beginLink(of: group, next.token, timeout: .seconds(60))
        }
    }

    /// - Parameters:
    ///   - size: bytes of the only file.
    ///   - offset: the first byte in the stream.
    init(size: Int, from offset: Int = 0, group: GroupID = GroupID()) {
        var offer = Offer.sample(size: UInt64(size))
        offer.group = OfferedGroup(id: group, members: 3)
        (self.offer, self.group) = (offer, group)
        var state: UInt64 = 1
        let file = (0..<size).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        var stream = ByteBuffer()
        stream.writeFrame(.item(0))
        var entry = FileEntry(path: nil, executable: false, modified: nil, size: UInt64(size))
        entry.offset = UInt64(offset)
        stream.writeFrame(.file(entry))
        for start in Swift.stride(from: offset, to: size, by: Limits.frameBytes) {
            stream.writeData(Array(file[start..<min(start + Limits.frameBytes, size)]))
        }
        stream.writeFrame(.fileEnd(.of(.xxh3_128, file)))
        stream.writeFrame(.itemEnd(.of(.xxh3_128, file)))
        stream.writeFrame(.end)
        bytes = stream.readableBytes
        var blocks: [ByteBuffer] = []
        while let block = stream.readSlice(length: min(GroupLimits.blockBytes, stream.readableBytes)),
            block.readableBytes > 0
        {
            blocks.append(block)
        }
        self.blocks = blocks
    }

    static func token(_ link: Epoch) -> Token { Token(high: 7, low: UInt64(link)) }

    func digest(_ block: Int) -> Digest { .of(.lasting, blocks[block].readableBytesView) }

    static func previous(_ link: Epoch, _ peer: PeerID = WaftLoopback.peer) -> Place.Previous {
        Place.Previous(link: link, peer: peer, token: token(link))
    }

    /// - Returns: the place of a member before `member`.
    static func next(_ link: Epoch, _ member: WaftLoopback) throws -> Place.Next {
        Place.Next(
            link: link, peer: .sample(9), token: token(link), addresses: [.v4(0xC000_0207)],
            port: UInt16(try member.port(for: WaftLoopback.other)))
    }

    /// Offers, and calls `body` with the control connection of the member.
    func control<Result: Sendable>(
        _ member: WaftLoopback, offering: Bool = true,
        _ body: (GroupLine<MemberReading>) async throws -> sending Result
    ) async throws -> Result {
        if offering {
            let verdict = try await member.offer(offer)
            try #require(verdict.mayRelay)
        }
        let fields = [GroupRequest.streamField: "\(bytes)"]
        return try await line(
            member, .group(group), GroupRequest.controlProtocol, fields, MemberReading(), as: WaftLoopback.peer, body)
    }

    /// Begins a link to a member, and calls `body` with it.
    func link<Result: Sendable>(
        to member: WaftLoopback, _ link: Epoch, as peer: PeerID = WaftLoopback.peer,
        _ body: (GroupLine<ReportReading>) async throws -> sending Result
    ) async throws -> Result {
        let fields = [GroupRequest.tokenField: Self.token(link).hex]
        return try await line(
            member, .relay(group), GroupRequest.linkProtocol, fields, ReportReading(), as: peer, body)
    }

    private func line<Reading: GroupReading, Result: Sendable>(
        _ member: WaftLoopback, _ resource: WaftDialect.Resource, _ name: String, _ fields: [String: String],
        _ reading: Reading, as peer: PeerID, _ body: (GroupLine<Reading>) async throws -> sending Result
    ) async throws -> Result {
        try await member.http(as: peer) { http in
            let switching = try await http.switchProtocols(
                resource.path, to: name, fields: fields, timeout: .seconds(60))
            guard case .switched(let stream) = switching else { throw HTTPError.malformed("it was refused") }
            let line = GroupLine(stream, reading)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = await BackgroundThread.run("waft-test") { line.run() } }
                defer { line.end() }
                return try await body(line)
            }
        }
    }

    /// - Returns: status and text of the answer to a request for a link or a control connection.
    func refusal(
        _ member: WaftLoopback, _ resource: WaftDialect.Resource, as peer: PeerID = WaftLoopback.peer,
        token: Token = token(1)
    ) async throws -> (status: Int, text: String) {
        let isRelay = resource == .relay(group)
        let switching = try await member.http(as: peer) { http in
            try await http.switchProtocols(
                resource.path, to: isRelay ? GroupRequest.linkProtocol : GroupRequest.controlProtocol,
                fields: [GroupRequest.tokenField: token.hex, GroupRequest.streamField: "\(bytes)"],
                timeout: .seconds(60))
        }
        guard case .refused(let answer) = switching else { return (101, "") }
        return (Int(answer.status.code), String(buffer: answer.body))
    }
}

/// A connection of a group, whose messages are recorded. A control connection has heartbeats of its own.
final class GroupLine<Reading: GroupReading & Sendable>: Sendable where Reading.Message: Sendable {
    let heard = Recorder<Reading.Message>()
    /// The fault in each whole answer that follows the messages.
    let answers = Recorder<TransferError?>()
    let ended = Recorder<Void>()
    private let stream: SecureStream
    private let reading: Reading
    private let words = Mutex(ByteBuffer())
    private let nudge: Nudge?

    init(_ stream: SecureStream, _ reading: Reading) {
        (self.stream, self.reading) = (stream, reading)
        nudge = try? Nudge()
    }

    func say(_ write: (inout ByteBuffer) -> Void) {
        words.withLock { write(&$0) }
        nudge?.ring()
    }

    func end() { stream.interrupt() }

    func run() {
        try? talk()
        stream.close(lingering: .zero)
        ended.record(())
    }

    private func talk() throws {
        guard let nudge else { return }
        var decoder = GroupDecoder(reading)
        var rest = FrameDecoder(digest: .xxh3_128)
        let reply = ReplyText()
        var bytes = ByteBuffer()
        var beat = NIODeadline.now()
        while true {
            if Reading.self == MemberReading.self, beat <= .now() {
                words.withLock { $0.writeGroupMessage(SenderMessage.beat) { _ in preconditionFailure("no digests") } }
                beat = .now() + .milliseconds(100)
            }
            if bytes.readableBytes == 0 {
                bytes.clear()
                words.withLock { swap(&$0, &bytes) }
            }
            guard var said = try stream.turn(&bytes, until: beat + .milliseconds(100), nudge: nudge) else { continue }
            while let message = try decoder.next(&said) { heard.record(message) }
            guard decoder.isOver else { continue }
            try rest.decode(decoder.rest(&said), into: reply)
            if reply.isComplete { answers.record(reply.fault) }
        }
    }
}

extension GroupLine<MemberReading> {
    func place(_ epoch: Epoch, _ previous: Place.Previous, _ next: Place.Next? = nil) {
        say { $0.writeGroupMessage(.place(Place(epoch: epoch, previous: previous, next: next))) { _ in .none } }
    }

    func digests(_ blocks: Range<Int>, of sender: GroupSender) {
        say { $0.writeGroupMessage(.digests(blocks), digest: sender.digest) }
    }

    func endChain() { say { $0.writeGroupMessage(SenderMessage.end) { _ in .none } } }

    /// Waits until the member has so many blocks.
    func has(_ count: Int) async throws {
        try await heard.first { if case .beat(let has) = $0 { has >= count } else { false } }
    }
}

extension GroupLine<ReportReading> {
    func blocks(_ blocks: some Sequence<ByteBuffer>) {
        say { bytes in for block in blocks { bytes.writeGroupBlock(block) } }
    }
}

extension Digest {
    /// Never asked for.
    fileprivate static var none: Digest { preconditionFailure("the message has no digests") }
}

extension Place.Next {
    /// A next member as a hostile sender names it.
    static func hostile(_ address: NetworkAddress, _ port: UInt16) -> Place.Next {
        Place.Next(link: 2, peer: .sample(9), token: GroupSender.token(2), addresses: [address], port: port)
    }
}
