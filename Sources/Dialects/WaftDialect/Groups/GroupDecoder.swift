import NIOCore
import Sharing

/// Turns the bytes of a group's connection into messages, one at a time; the pieces may have any size. Without I/O.
///
/// It copies an unfinished frame and holds nothing else. A length is checked before memory is taken for it: a frame has at
/// most `GroupLimits.blockBytes`. After a fault the decoder cannot be used.
///
/// ```
/// header ─a type of the group──▶ payload ──its last byte──▶ header
///   │ ├───an unknown one ≥ 80──▶ skipping ─its last byte──▶ header
///   │ └───one of section 4─────▶ over
/// ```
struct GroupDecoder<Reading: GroupReading>: ~Copyable {
    private enum State {
        case header
        /// Collects a frame.
        case payload(GroupFrameType, length: Int)
        /// Skips a frame of a later version.
        case skipping(remaining: Int)
        case over
    }

    private var reading: Reading
    private var state: State = .header
    /// An incomplete header or payload; the header of the first frame after those of the group.
    private var partial = ByteBuffer()

    init(_ reading: Reading) { self.reading = reading }

    /// Whether the connection could end here.
    var isBetweenFrames: Bool {
        if case .header = state { return partial.readableBytes == 0 }
        return false
    }

    /// Whether the frames of the group are over. `rest` has those of section 4 that follow.
    var isOver: Bool { if case .over = state { true } else { false } }

    /// Bytes that it holds or has reserved.
    var heldBytes: Int { partial.capacity }

    /// Takes the bytes of one message, and leaves those after it.
    ///
    /// - Returns: nil if all bytes are taken and a message is not complete, or if the frames of the group are over.
    /// - Throws: `protocolViolation`.
    mutating func next(_ bytes: inout ByteBuffer) throws(TransferError) -> Reading.Message? {
        while true {
            switch state {
            case .header:
                guard collect(FrameHeader.byteCount, from: &bytes) else { return nil }
                try begin()
            case .payload(let type, let length):
                guard collect(length, from: &bytes) else { return nil }
                var payload = partial
                partial = ByteBuffer()
                state = .header
                return try reading.read(type, &payload)
            case .skipping(let remaining):
                let count = min(remaining, bytes.readableBytes)
                bytes.moveReaderIndex(forwardBy: count)
                state = count == remaining ? .header : .skipping(remaining: remaining - count)
                if count < remaining { return nil }
            case .over:
                return nil
            }
        }
    }

    /// Takes all bytes after the frames of the group: for a `FrameDecoder`, which reads from the first of them on.
    mutating func rest(_ bytes: inout ByteBuffer) -> ByteBuffer {
        var rest = partial
        partial = ByteBuffer()
        rest.writeBuffer(&bytes)
        return rest
    }

    /// - Returns: whether `partial` has `count` bytes now.
    private mutating func collect(_ count: Int, from bytes: inout ByteBuffer) -> Bool {
        let missing = min(count - partial.readableBytes, bytes.readableBytes)
        if var piece = bytes.readSlice(length: missing) { partial.writeBuffer(&piece) }
        return partial.readableBytes == count
    }

    private mutating func begin() throws(TransferError) {
        var header = partial
        guard let (type, _, _, length) = header.readMultipleIntegers(as: (UInt8, UInt8, UInt16, UInt32).self) else {
            throw GroupFrame.malformed("a frame without header")
        }
        if let known = FrameType(rawValue: type), reading.ends(with: known) {
            state = .over
            return
        }
        partial = ByteBuffer()
        if let known = GroupFrameType(rawValue: type), let lengths = reading.lengths(of: known) {
            guard lengths.contains(Int(length)) else { throw GroupFrame.malformed("a frame of \(length) bytes") }
            state = .payload(known, length: Int(length))
            partial.reserveCapacity(Int(length))
        } else {
            guard type >= FrameType.firstOptional else {
                throw GroupFrame.malformed("a frame of the type \(type), which cannot come here")
            }
            guard length <= Limits.headerFrameBytes else { throw GroupFrame.malformed("a frame of \(length) bytes") }
            state = .skipping(remaining: Int(length))
        }
    }
}
