import CZlib
import NIOCore
import Sharing

/// Packs the bytes of an archive in a form that the receiver takes: dvzip or gzip. Without I/O.
///
/// Stores contents that do not become smaller; a sample of each stretch decides. Compressing pictures, films and
/// archives again costs ten times as much as all other work, and saves nothing.
final class BodyDeflater {
    enum Form: Sendable {
        case dvzip
        case gzip
    }

    /// Bytes for which one sample decides.
    private static let stretchBytes = 1 << 20
    private static let sampleBytes = 16 << 10
    private static let level: Int32 = 1

    private let form: Form
    private let deflating: DeflateStream
    private let sampling: DeflateStream
    /// The unfinished block.
    private var block = [UInt8]()
    private var stretchLeft = 0
    private var isStoring = false

    init(_ form: Form) throws(TransferError) {
        self.form = form
        // 31 is 15, the largest window, plus 16 for gzip's form.
        deflating = try DeflateStream(level: Self.level, windowBits: form == .gzip ? 31 : 15)
        sampling = try DeflateStream(level: Self.level, windowBits: 15)
        block.reserveCapacity(AirDropLimits.blockBytes)
    }

    /// Takes bytes and appends the packed ones.
    func add(_ bytes: UnsafeRawBufferPointer, to output: inout ByteBuffer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = min(rest.count, AirDropLimits.blockBytes - block.count)
            let piece = rest.prefix(count)
            rest = rest.dropFirst(count)
            if block.isEmpty, count == AirDropLimits.blockBytes {
                emit(UnsafeRawBufferPointer(rebasing: piece), to: &output)
            } else {
                block.append(contentsOf: piece)
                if block.count == AirDropLimits.blockBytes { emitBlock(to: &output) }
            }
        }
    }

    /// Appends the rest and the form's own end.
    func finish(into output: inout ByteBuffer) {
        emitBlock(to: &output)
        if form == .gzip { deflating.finish(into: &output) }
    }

    private func emitBlock(to output: inout ByteBuffer) {
        guard !block.isEmpty else { return }
        block.withUnsafeBytes { emit($0, to: &output) }
        block.removeAll(keepingCapacity: true)
    }

    private func emit(_ bytes: UnsafeRawBufferPointer, to output: inout ByteBuffer) {
        judge(bytes)
        switch form {
        case .gzip:
            deflating.setLevel(isStoring ? 0 : Self.level, into: &output)
            deflating.add(bytes, to: &output)
        case .dvzip where isStoring:
            writeStored(bytes, to: &output)
        case .dvzip:
            let start = output.writerIndex
            output.writeInteger(0 as UInt32)
            deflating.reset()
            deflating.add(bytes, to: &output)
            deflating.finish(into: &output)
            let count = output.writerIndex - start - 4
            guard count < bytes.count else {
                output.moveWriterIndex(to: start)
                return writeStored(bytes, to: &output)
            }
            output.setInteger(UInt32(count), at: start)
        }
    }

    private func writeStored(_ bytes: UnsafeRawBufferPointer, to output: inout ByteBuffer) {
        output.writeInteger(1 << 31 | UInt32(bytes.count))
        output.writeBytes(bytes)
    }

    /// Decides whether the next stretch is worth compressing.
    private func judge(_ bytes: UnsafeRawBufferPointer) {
        stretchLeft -= bytes.count
        guard stretchLeft <= 0 else { return }
        stretchLeft = Self.stretchBytes
        // From the middle: the beginning of a file is rarely typical of the rest.
        let sample = bytes.dropFirst((bytes.count - min(bytes.count, Self.sampleBytes)) / 2).prefix(Self.sampleBytes)
        var packed = ByteBuffer()
        sampling.reset()
        sampling.add(UnsafeRawBufferPointer(rebasing: sample), to: &packed)
        sampling.finish(into: &packed)
        isStoring = packed.readableBytes * 10 > sample.count * 9
    }
}

/// One stream of zlib, which writes into growing buffers.
private final class DeflateStream {
    /// `z_stream`, owned. zlib requires a constant address.
    private let stream: UnsafeMutablePointer<z_stream>
    private var level: Int32
    /// Bytes to reserve at a time.
    private static let roomBytes = 64 << 10

    init(level: Int32, windowBits: Int32) throws(TransferError) {
        self.level = level
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let result = deflateInit2_(
            stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard result == Z_OK else {
            stream.deallocate()
            throw TransferError(.unexpected, "there is no memory to pack the contents")
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func reset() { deflateReset(stream) }

    func add(_ bytes: UnsafeRawBufferPointer, to output: inout ByteBuffer) {
        stream.pointee.next_in = UnsafeMutablePointer(
            mutating: bytes.assumingMemoryBound(to: UInt8.self).baseAddress)
        // `avail_in` has 32 bits; the input is at most a block.
        stream.pointee.avail_in = UInt32(bytes.count)
        while stream.pointee.avail_in > 0 { run(into: &output) { deflate($0, Z_NO_FLUSH) } }
        stream.pointee.next_in = nil
    }

    func finish(into output: inout ByteBuffer) {
        while run(into: &output, { deflate($0, Z_FINISH) }) == Z_OK {}
    }

    func setLevel(_ level: Int32, into output: inout ByteBuffer) {
        guard level != self.level else { return }
        self.level = level
        // zlib first finishes the earlier bytes with the old level, which needs room.
        while run(into: &output, { deflateParams($0, level, Z_DEFAULT_STRATEGY) }) == Z_BUF_ERROR {}
    }

    @discardableResult
    private func run(
        into output: inout ByteBuffer, _ body: (UnsafeMutablePointer<z_stream>) -> Int32
    ) -> Int32 {
        var result = Z_OK
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.roomBytes) { room in
            let room = room.prefix(1 << 30)
            stream.pointee.next_out =
                UnsafeMutableRawBufferPointer(rebasing: room).assumingMemoryBound(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(room.count)
            result = body(stream)
            return room.count - Int(stream.pointee.avail_out)
        }
        stream.pointee.next_out = nil
        return result
    }
}
