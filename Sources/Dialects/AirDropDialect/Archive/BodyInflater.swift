import CZlib
import Sharing

/// The bytes to which a body may inflate: the offered sizes, or a multiple of the received bytes.
struct InflationLimit {
    /// Bytes of the whole offer, with room for headers; nil if an item has no size.
    private let announced: UInt64?

    /// - Parameter offer: its sizes count only if all of them are known.
    init(_ offer: Offer) {
        let isWhole = offer.items.allSatisfy { $0.size != nil && $0.entries != nil }
        let around = UInt64(offer.items.count + 2) * AirDropLimits.memberOverhead
        let (sum, overflow) = offer.knownSize.addingReportingOverflow(around)
        announced = isWhole ? (overflow ? .max : sum) : nil
    }

    func allows(_ inflated: UInt64, from compressed: UInt64) -> Bool {
        if inflated <= AirDropLimits.inflatedBytes { return true }
        if let announced, inflated <= announced { return true }
        let (most, overflow) = compressed.multipliedReportingOverflow(by: AirDropLimits.inflationRatio)
        return overflow || inflated - AirDropLimits.inflatedBytes <= most
    }
}

/// Turns the bytes of a body into a cpio archive, from any form: bare, gzip or dvzip. Without I/O; bounded.
///
///     beginning ──'0'──▶ bare
///         │ ─────1F────▶ gzip ──end of stream──▶ ended
///         └──00 or 80──▶ header ◀──▶ stored | deflated        (dvzip)
final class BodyInflater {
    private enum State {
        case beginning
        case bare
        case gzip
        case ended
        /// The bytes of the block's header so far, as a number.
        case header(bytes: Int, value: UInt32)
        case stored(left: Int)
        case deflated(left: Int, inflated: Int)
    }

    private let limit: InflationLimit
    private var state = State.beginning
    /// `z_stream`, owned; nil without compression. zlib requires a constant address.
    private var stream: UnsafeMutablePointer<z_stream>?
    private var compressed: UInt64 = 0
    private var inflated: UInt64 = 0

    init(_ limit: InflationLimit) {
        self.limit = limit
    }

    deinit {
        guard let stream else { return }
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Takes some of `input` and writes the inflated bytes.
    ///
    /// - Parameter output: not empty.
    /// - Returns: the consumed bytes of `input`, and the written bytes. 0 written bytes mean that more input is needed.
    /// - Throws: `protocolViolation` if the bytes are no body; `sizeMismatch` if it inflates beyond the limit.
    func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(TransferError) -> (consumed: Int, produced: Int) {
        var (consumed, produced) = (0, 0)
        if case .beginning = state { try recognize(input) }
        while consumed < input.count || hasPending, produced < output.count {
            let (took, made) = try step(
                UnsafeRawBufferPointer(rebasing: input[consumed...]),
                UnsafeMutableRawBufferPointer(rebasing: output[produced...]))
            compressed += UInt64(took)
            inflated += UInt64(made)
            consumed += took
            produced += made
            guard limit.allows(inflated, from: compressed) else {
                throw TransferError(.sizeMismatch, "the contents inflate to far more than was offered")
            }
            if took == 0, made == 0 { break }
        }
        return (consumed, produced)
    }

    /// Whether the body may end here: between two blocks, or in a form with another end.
    var isBetweenBlocks: Bool {
        switch state {
        case .bare, .ended, .header(bytes: 0, _): true
        default: false
        }
    }

    /// Whether zlib may hold output that did not fit.
    private var hasPending: Bool {
        switch state {
        case .gzip, .deflated: true
        default: false
        }
    }

    private func step(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) throws(TransferError) -> (Int, Int) {
        switch state {
        case .beginning: return (0, 0)
        case .bare: return copy(input, output)
        case .gzip:
            let (took, made, hasEnded) = try inflateOn(input, output)
            if hasEnded { state = .ended }
            return (took, made)
        case .ended:
            // Some writers put bytes after the end of the stream.
            return (input.count, 0)
        case .header(let bytes, let value): return (try takeHeader(input, bytes, value), 0)
        case .stored(let left):
            let (took, made) = copy(UnsafeRawBufferPointer(rebasing: input.prefix(left)), output)
            state = took == left ? .header(bytes: 0, value: 0) : .stored(left: left - took)
            return (took, made)
        case .deflated(let left, let inflated):
            return try inflateBlock(input, output, left: left, inflated: inflated)
        }
    }

    private func copy(_ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer) -> (Int, Int) {
        let count = min(input.count, output.count)
        output.copyMemory(from: UnsafeRawBufferPointer(rebasing: input.prefix(count)))
        return (count, count)
    }

    /// Recognizes the form by the first byte, not by the announced type: `070707` or `070701`, `1F 8B`, or the header
    /// of a block, whose short length leaves the upper bits 0.
    private func recognize(_ input: UnsafeRawBufferPointer) throws(TransferError) {
        switch input.first {
        case nil: break
        case UInt8(ascii: "0"): state = .bare
        case 0x1F:
            try openStream(windowBits: 15 + 16)
            state = .gzip
        case 0x00, 0x80:
            try openStream(windowBits: 15)
            state = .header(bytes: 0, value: 0)
        default: throw .malformed("contents that are no archive")
        }
    }

    private func takeHeader(_ input: UnsafeRawBufferPointer, _ bytes: Int, _ value: UInt32) throws(TransferError) -> Int
    {
        guard let byte = input.first else { return 0 }
        let value = value << 8 | UInt32(byte)
        guard bytes == 3 else {
            state = .header(bytes: bytes + 1, value: value)
            return 1
        }
        let isStored = value >> 31 == 1
        let count = Int(value & 0x7FFF_FFFF)
        // deflate adds to contents that it cannot compress: five bytes in 16 KiB, and the stream's header and end.
        let most = isStored ? AirDropLimits.blockBytes : AirDropLimits.blockBytes + 1_024
        guard (1...most).contains(count) else { throw .malformed("a block of \(count) bytes, or no archive at all") }
        if !isStored, let stream { inflateReset(stream) }
        state = isStored ? .stored(left: count) : .deflated(left: count, inflated: 0)
        return 1
    }

    private func inflateBlock(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer, left: Int, inflated: Int
    ) throws(TransferError) -> (Int, Int) {
        let (took, made, hasEnded) = try inflateOn(UnsafeRawBufferPointer(rebasing: input.prefix(left)), output)
        let (left, inflated) = (left - took, inflated + made)
        guard inflated <= AirDropLimits.blockBytes else { throw .malformed("a block that inflates to too much") }
        guard hasEnded else {
            // The input is complete and the output has room, but the block has no end.
            if left == 0, made < output.count { throw .malformed("a block that does not end") }
            state = .deflated(left: left, inflated: inflated)
            return (took, made)
        }
        guard left == 0 else { throw .malformed("a block with something behind its end") }
        state = .header(bytes: 0, value: 0)
        return (took, made)
    }

    // MARK: zlib

    private func openStream(windowBits: Int32) throws(TransferError) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            stream.deallocate()
            throw TransferError(.unexpected, "there is no memory to inflate the contents")
        }
        self.stream = stream
    }

    private func inflateOn(
        _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer
    ) throws(TransferError) -> (Int, Int, hasEnded: Bool) {
        guard let stream else { throw TransferError(.unexpected, "nothing is being inflated") }
        // zlib counts in 32 bits; the caller continues with the rest.
        let (input, output) = (input.prefix(1 << 30), output.prefix(1 << 30))
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: UnsafeRawBufferPointer(rebasing: input).assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out =
            UnsafeMutableRawBufferPointer(rebasing: output).assumingMemoryBound(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let result = CZlib.inflate(stream, Z_NO_FLUSH)
        let took = input.count - Int(stream.pointee.avail_in)
        let made = output.count - Int(stream.pointee.avail_out)
        // The stream keeps no pointer into the caller's memory.
        stream.pointee.next_in = nil
        stream.pointee.avail_in = 0
        switch result {
        case Z_OK, Z_BUF_ERROR: return (took, made, false)
        case Z_STREAM_END: return (took, made, true)
        default: throw .malformed("contents that cannot be inflated")
        }
    }
}
