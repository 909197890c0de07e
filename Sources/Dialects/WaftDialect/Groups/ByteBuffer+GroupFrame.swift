import Digests
import Groups
import NIOCore
import Sharing

extension ByteBuffer {
    /// Appends a message of the sender to a member. One with many digests becomes several frames.
    ///
    /// - Parameter digest: the SHA-256 of a block; asked for those of the message `digests` only.
    mutating func writeGroupMessage(_ message: SenderMessage, digest: (Int) -> Digest) {
        switch message {
        case .place(let place): writeGroupFrame(.place) { $0.writePlace(place) }
        case .digests(let blocks):
            for first in stride(from: blocks.lowerBound, to: blocks.upperBound, by: GroupFrame.digests) {
                let part = first..<min(first + GroupFrame.digests, blocks.upperBound)
                writeGroupFrame(.digests) { $0.writeDigests(part, digest) }
            }
        case .beat: writeGroupFrame(.beat) { _ in }
        case .out(let cause):
            writeGroupFrame(.out) { payload in
                payload.writeInteger(cause.code)
                if case .fault(.wrongCount(let count)) = cause { payload.writeInteger(UInt64(clamping: count)) }
            }
        case .end: writeGroupFrame(.chainEnd) { _ in }
        }
    }

    /// Appends a message of a member to the sender.
    mutating func writeGroupMessage(_ message: MemberMessage) {
        switch message {
        case .beat(let has): writeGroupFrame(.beat) { $0.writeInteger(UInt64(has)) }
        case .trouble(let trouble, let link):
            writeGroupFrame(.trouble) { $0.writeMultipleIntegers(link, trouble.code) }
        case .leaving: writeGroupFrame(.leaving) { _ in }
        }
    }

    /// Appends a report to the previous.
    mutating func writeGroupReport(_ report: Report) {
        writeGroupFrame(.report) { $0.writeMultipleIntegers(UInt64(report.has), UInt64(report.next)) }
    }

    /// Appends a block to the next.
    ///
    /// - Parameter block: 1...`GroupLimits.blockBytes`, as many as the stream has in it.
    mutating func writeGroupBlock(_ block: ByteBuffer) {
        writeGroupFrame(.block) { $0.writeImmutableBuffer(block) }
    }

    private mutating func writeGroupFrame(_ type: GroupFrameType, _ writePayload: (inout ByteBuffer) -> Void) {
        let start = writerIndex
        writeInteger(type.rawValue)
        writeRepeatingByte(0, count: 3)
        writeInteger(UInt32(0))
        writePayload(&self)
        setInteger(UInt32(writerIndex - start - FrameHeader.byteCount), at: start + 4)
    }

    private mutating func writePlace(_ place: Place) {
        writeInteger(place.epoch)
        writeNeighbour(place.previous.link, place.previous.peer, place.previous.token)
        guard let next = place.next else { return }
        writeNeighbour(next.link, next.peer, next.token)
        let addresses = next.addresses.prefix(GroupLimits.addresses)
        writeMultipleIntegers(next.port, UInt8(addresses.count))
        for address in addresses {
            switch address {
            case .v4(let bits): writeMultipleIntegers(4 as UInt8, bits)
            case .v6(let high, let low): writeMultipleIntegers(6 as UInt8, high, low)
            }
        }
    }

    private mutating func writeNeighbour(_ link: Epoch, _ peer: PeerID, _ token: Token) {
        writeInteger(link)
        writeBytes(peer.bytes)
        writeMultipleIntegers(token.high, token.low)
    }

    private mutating func writeDigests(_ blocks: Range<Int>, _ digest: (Int) -> Digest) {
        writeInteger(UInt64(blocks.lowerBound))
        for block in blocks {
            let digest = digest(block)
            precondition(digest.algorithm == .lasting, "the digest of a block is a SHA-256")
            digest.withUnsafeBytes { bytes in _ = writeBytes(bytes) }
        }
    }
}
