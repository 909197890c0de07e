import NIOCore

/// The position in a chunked body (RFC 9112, section 7.1), for code that reads it without an HTTP decoder. Sans I/O.
///
/// It knows the form that long bodies have. It stops at any other form and at the last chunk, which the decoder reads.
struct ChunkFollower: Equatable {
    enum Step: Equatable {
        /// Contents of a chunk, not empty.
        case data(ByteBuffer)
        /// A chunk has ended, and the next has not begun.
        case boundary
        /// There are no more bytes.
        case starved
        /// The next byte does not belong to a chunk with contents.
        case stopped
    }

    private enum Place: Equatable {
        case size(Int, digits: Int)
        case sizeEnd(Int)
        case data(remaining: Int)
        case dataEnd
        case dataEndLine
    }

    private var place = Place.size(0, digits: 0)

    /// The maximum number of digits of a chunk's size: no sender needs more.
    private static let digits = 8

    /// Advances to the next step.
    mutating func step(_ bytes: inout ByteBuffer) -> Step {
        while bytes.readableBytes > 0 {
            if case .data(let remaining) = place {
                let count = min(remaining, bytes.readableBytes)
                place = count == remaining ? .dataEnd : .data(remaining: remaining - count)
                guard let data = bytes.readSlice(length: count) else { return .starved }
                return .data(data)
            }
            guard let byte: UInt8 = bytes.getInteger(at: bytes.readerIndex), let next = place(after: byte) else {
                return .stopped
            }
            bytes.moveReaderIndex(forwardBy: 1)
            let hasEnded = place == .dataEndLine
            place = next
            if hasEnded { return .boundary }
        }
        return .starved
    }

    private func place(after byte: UInt8) -> Place? {
        switch (place, byte) {
        case (.size(let size, let digits), UInt8(ascii: "\r")) where digits > 0 && size > 0: .sizeEnd(size)
        case (.size(let size, let digits), _) where digits < Self.digits:
            byte.hexadecimal.map { .size(size << 4 | $0, digits: digits + 1) }
        case (.sizeEnd(let size), UInt8(ascii: "\n")): .data(remaining: size)
        case (.dataEnd, UInt8(ascii: "\r")): .dataEndLine
        case (.dataEndLine, UInt8(ascii: "\n")): .size(0, digits: 0)
        default: nil
        }
    }

    /// Whether the contents of a chunk have ended, but not the line end after them.
    var owesLineEnd: Bool { place == .dataEnd || place == .dataEndLine }

    /// The bytes that bring a decoder to this position if it has seen nothing of this chunk. No bytes bring it into the
    /// line end after the contents (`owesLineEnd`).
    var introduction: String {
        switch place {
        case .size(_, digits: 0), .dataEnd, .dataEndLine: ""
        case .size(let size, _): String(size, radix: 16)
        case .sizeEnd(let size): String(size, radix: 16) + "\r"
        case .data(let remaining): String(remaining, radix: 16) + "\r\n"
        }
    }
}

extension UInt8 {
    fileprivate var hexadecimal: Int? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(self - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(self - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(self - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}
