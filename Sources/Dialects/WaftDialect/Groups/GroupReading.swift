import Digests
import Groups
import NIOCore
import Sharing

/// The frames of a group in one direction of a connection (Protocol, section 9.3).
protocol GroupReading {
    associatedtype Message

    /// - Returns: the lengths that a payload can have; nil for a type that cannot come now.
    func lengths(of type: GroupFrameType) -> ClosedRange<Int>?

    /// Whether a frame of section 4 may come, with which those of the group are over.
    func ends(with type: FrameType) -> Bool

    /// - Parameter payload: a whole one, of an allowed length.
    /// - Throws: `protocolViolation` if it is malformed.
    mutating func read(_ type: GroupFrameType, _ payload: inout ByteBuffer) throws(TransferError) -> Message
}

extension GroupReading {
    func ends(with type: FrameType) -> Bool { false }
}

/// Reads the messages of the sender, as a member.
struct SenderReading: GroupReading {
    func lengths(of type: GroupFrameType) -> ClosedRange<Int>? {
        let digest = DigestAlgorithm.lasting.byteCount
        return switch type {
        case .place: GroupFrame.shortestPlace...GroupFrame.longestPlace
        case .digests: 8 + digest...8 + GroupFrame.digests * digest
        case .beat, .chainEnd: 0...0
        case .out: 1...9
        case .trouble, .leaving, .block, .report: nil
        }
    }

    func ends(with type: FrameType) -> Bool { type == .cancel }

    func read(_ type: GroupFrameType, _ payload: inout ByteBuffer) throws(TransferError) -> SenderFrame {
        switch type {
        case .place: SenderFrame(message: .place(try payload.readPlace()))
        case .digests: try digests(&payload)
        case .beat: SenderFrame(message: .beat)
        case .out: SenderFrame(message: .out(try cause(&payload)))
        case .chainEnd: SenderFrame(message: .end)
        case .trouble, .leaving, .block, .report: throw GroupFrame.malformed("a frame out of place")
        }
    }

    private func digests(_ payload: inout ByteBuffer) throws(TransferError) -> SenderFrame {
        let first = try payload.readBlockCount()
        let (count, rest) = payload.readableBytes.quotientAndRemainder(dividingBy: DigestAlgorithm.lasting.byteCount)
        guard rest == 0, first + count <= BlockedStream.maximumBlocks else {
            throw GroupFrame.malformed("digests that are none")
        }
        let blocks = first..<first + count
        return SenderFrame(message: .digests(blocks), digests: BlockDigests(blocks, payload))
    }

    private func cause(_ payload: inout ByteBuffer) throws(TransferError) -> LeaveCause {
        guard let code = payload.readInteger(as: UInt8.self) else { throw GroupFrame.malformed("no cause") }
        let count = code == LeaveCause.fault(.wrongCount(0)).code ? try payload.readBlockCount() : 0
        // A later version may say more of a cause that is not known here.
        let cause = LeaveCause(code: code, count: count)
        guard cause == .other || payload.readableBytes == 0 else { throw GroupFrame.malformed("a cause too long") }
        return cause
    }
}

/// Reads the messages of a member, as the sender. The ordinary answer to contents follows them.
struct MemberReading: GroupReading {
    func lengths(of type: GroupFrameType) -> ClosedRange<Int>? {
        switch type {
        case .beat: 8...8
        case .trouble: 5...5
        case .leaving: 0...0
        case .place, .digests, .out, .chainEnd, .block, .report: nil
        }
    }

    func ends(with type: FrameType) -> Bool { [.cancel, .data, .end].contains(type) }

    func read(_ type: GroupFrameType, _ payload: inout ByteBuffer) throws(TransferError) -> MemberMessage {
        switch type {
        case .beat: return .beat(has: try payload.readBlockCount())
        case .trouble:
            guard let (link, code) = payload.readMultipleIntegers(as: (Epoch, UInt8).self),
                let trouble = Trouble(code: code)
            else { throw GroupFrame.malformed("an unknown trouble") }
            return .trouble(trouble, link: link)
        case .leaving: return .leaving
        case .place, .digests, .out, .chainEnd, .block, .report: throw GroupFrame.malformed("a frame out of place")
        }
    }
}

/// Reads the blocks of the previous: from the one that the first report named, in order, each with its exact length.
struct BlockReading: GroupReading {
    private let stream: BlockedStream
    /// The number of the block that comes next.
    private(set) var next: Int

    /// - Parameter first: the blocks that the first report of the link named.
    init(_ stream: BlockedStream, from first: Int) { (self.stream, next) = (stream, first) }

    func lengths(of type: GroupFrameType) -> ClosedRange<Int>? {
        guard type == .block, (0..<stream.blocks).contains(next) else { return nil }
        let length = stream.length(of: next)
        return length...length
    }

    mutating func read(_ type: GroupFrameType, _ payload: inout ByteBuffer) throws(TransferError) -> StreamBlock {
        defer { next += 1 }
        return StreamBlock(number: next, bytes: payload)
    }
}

/// Reads the reports of the next.
struct ReportReading: GroupReading {
    func lengths(of type: GroupFrameType) -> ClosedRange<Int>? { type == .report ? 16...16 : nil }

    func read(_ type: GroupFrameType, _ payload: inout ByteBuffer) throws(TransferError) -> Report {
        Report(has: try payload.readBlockCount(), next: try payload.readBlockCount())
    }
}

extension ByteBuffer {
    fileprivate mutating func readBlockCount() throws(TransferError) -> Int {
        guard let count = readInteger(as: UInt64.self), count <= UInt64(BlockedStream.maximumBlocks) else {
            throw GroupFrame.malformed("a number of blocks that no stream has")
        }
        return Int(count)
    }

    fileprivate mutating func readPlace() throws(TransferError) -> Place {
        guard let epoch = readInteger(as: Epoch.self) else { throw GroupFrame.malformed("a place without epoch") }
        let (link, peer, token) = try readNeighbour()
        var place = Place(epoch: epoch, previous: Place.Previous(link: link, peer: peer, token: token), next: nil)
        if readableBytes > 0 { place.next = try readNext() }
        guard readableBytes == 0 else { throw GroupFrame.malformed("a place too long") }
        return place
    }

    private mutating func readNext() throws(TransferError) -> Place.Next {
        let (link, peer, token) = try readNeighbour()
        guard let (port, count) = readMultipleIntegers(as: (UInt16, UInt8).self),
            (1...GroupLimits.addresses).contains(Int(count))
        else { throw GroupFrame.malformed("a next member without addresses, or with too many") }
        var addresses: [NetworkAddress] = []
        for _ in 0..<count { addresses.append(try readAddress()) }
        return Place.Next(link: link, peer: peer, token: token, addresses: addresses, port: port)
    }

    private mutating func readNeighbour() throws(TransferError) -> (Epoch, PeerID, Token) {
        guard let link = readInteger(as: Epoch.self), let bytes = readBytes(length: PeerID.byteCount),
            let peer = PeerID(fingerprint: bytes),
            let (high, low) = readMultipleIntegers(as: (UInt64, UInt64).self)
        else { throw GroupFrame.malformed("a place that is cut short") }
        return (link, peer, Token(high: high, low: low))
    }

    private mutating func readAddress() throws(TransferError) -> NetworkAddress {
        switch readInteger(as: UInt8.self) {
        case 4: if let bits = readInteger(as: UInt32.self) { return .v4(bits) }
        case 6: if let (high, low) = readMultipleIntegers(as: (UInt64, UInt64).self) { return .v6(high, low) }
        default: break
        }
        throw GroupFrame.malformed("an address that is none")
    }
}
