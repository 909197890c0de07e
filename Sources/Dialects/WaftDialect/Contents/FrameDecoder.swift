import Digests
import NIOCore
import Sharing

/// Takes the frames from a decoder.
protocol FrameSink: AnyObject {
    func receive(_ frame: Frame) throws(TransferError)
    /// Takes some bytes of the current data frame: not empty, valid only during the call.
    func receive(data: UnsafeRawBufferPointer) throws(TransferError)
}

/// Turns the body of the contents into frames; the pieces may have any size. Without I/O.
///
/// Passes data on at once and never holds it. Holds any other frame until it is complete; the frame's limit bounds
/// that. After a fault the decoder cannot be used.
struct FrameDecoder: ~Copyable {
    private enum State {
        case header
        /// Collects a frame.
        case payload(FrameType, length: Int)
        /// Passes data on.
        case data(remaining: Int)
        /// Skips an unknown frame that may be skipped.
        case skipping(remaining: Int)
    }

    private var state: State = .header
    /// An incomplete header or payload.
    private var partial = ByteBuffer()
    private let digest: DigestAlgorithm

    /// - Parameter digest: the algorithm from the verdict.
    init(digest: DigestAlgorithm) {
        self.digest = digest
    }

    /// Whether the stream could end here.
    var isBetweenFrames: Bool {
        if case .header = state { return partial.readableBytes == 0 }
        return false
    }

    /// - Throws: `protocolViolation`, or the sink's error.
    mutating func decode(_ bytes: consuming ByteBuffer, into sink: some FrameSink) throws(TransferError) {
        while bytes.readableBytes > 0 {
            switch state {
            case .header:
                guard var header = collect(FrameHeader.byteCount, from: &bytes) else { return }
                try begin(&header)
            case .payload(let type, let length):
                guard var payload = collect(length, from: &bytes) else { return }
                state = .header
                try sink.receive(Frame(type, payload: &payload, digest: digest))
            case .data(let remaining):
                let count = min(remaining, bytes.readableBytes)
                try bytes.passOn(count, to: sink)
                state = count == remaining ? .header : .data(remaining: remaining - count)
            case .skipping(let remaining):
                let count = min(remaining, bytes.readableBytes)
                bytes.moveReaderIndex(forwardBy: count)
                state = count == remaining ? .header : .skipping(remaining: remaining - count)
            }
            // A frame without payload is complete with its header.
            if case .payload(let type, 0) = state {
                var nothing = ByteBuffer()
                state = .header
                try sink.receive(Frame(type, payload: &nothing, digest: digest))
            }
        }
    }

    /// - Returns: `count` bytes; nil if there are fewer, which are kept.
    private mutating func collect(_ count: Int, from bytes: inout ByteBuffer) -> ByteBuffer? {
        if partial.readableBytes == 0, let whole = bytes.readSlice(length: count) { return whole }
        let missing = min(count - partial.readableBytes, bytes.readableBytes)
        if var piece = bytes.readSlice(length: missing) { partial.writeBuffer(&piece) }
        guard partial.readableBytes == count else { return nil }
        defer { partial = ByteBuffer() }
        return partial
    }

    private mutating func begin(_ header: inout ByteBuffer) throws(TransferError) {
        guard let (type, _, _, length) = header.readMultipleIntegers(as: (UInt8, UInt8, UInt16, UInt32).self) else {
            throw Self.malformed("a frame without header")
        }
        guard let known = FrameType(rawValue: type) else {
            guard type >= FrameType.firstOptional else { throw Self.malformed("unknown frame type \(type)") }
            guard length <= Limits.frameBytes else { throw Self.malformed("a frame of \(length) bytes") }
            if length > 0 { state = .skipping(remaining: Int(length)) }
            return
        }
        if known == .data {
            guard length > 0, length <= Limits.frameBytes else { throw Self.malformed("data of \(length) bytes") }
            state = .data(remaining: Int(length))
        } else {
            guard length <= Limits.headerFrameBytes else { throw Self.malformed("a frame of \(length) bytes") }
            state = .payload(known, length: Int(length))
        }
    }

    static func malformed(_ what: String) -> TransferError {
        TransferError(.protocolViolation, "the contents are malformed: \(what)")
    }
}

extension ByteBuffer {
    fileprivate mutating func passOn(_ count: Int, to sink: some FrameSink) throws(TransferError) {
        var fault: TransferError?
        withUnsafeReadableBytes { bytes in
            do throws(TransferError) {
                try sink.receive(data: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
            } catch {
                fault = error
            }
        }
        moveReaderIndex(forwardBy: count)
        if let fault { throw fault }
    }
}
