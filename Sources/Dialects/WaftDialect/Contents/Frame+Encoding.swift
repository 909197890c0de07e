import Digests
import NIOCore
import Sharing

extension ByteBuffer {
    /// Appends a whole frame.
    mutating func writeFrame(_ frame: Frame) {
        let start = writerIndex
        writeInteger(frame.type.rawValue)
        writeRepeatingByte(0, count: 3)
        writeInteger(UInt32(0))
        writePayload(of: frame)
        // Within UInt32: paths, targets and messages are bounded by their types.
        setInteger(UInt32(writerIndex - start - FrameHeader.byteCount), at: start + 4)
    }

    /// Appends a frame that only announces that more will come.
    mutating func writeWaiting() {
        writeInteger(FrameType.waiting)
        writeRepeatingByte(0, count: FrameHeader.byteCount - 1)
    }

    /// Appends a data frame; `fill` writes its contents in place.
    ///
    /// - Parameters:
    ///   - capacity: maximum bytes of contents, 1...`Limits.frameBytes`.
    ///   - fill: writes into the buffer and returns the number of bytes; 0 writes no frame.
    /// - Returns: the bytes of contents.
    mutating func writeDataFrame<Failure: Error>(
        capacity: Int,
        fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        let start = writerIndex
        writeInteger(FrameType.data.rawValue)
        writeRepeatingByte(0, count: FrameHeader.byteCount - 1)
        var failure: Failure?
        let count = writeWithUnsafeMutableBytes(minimumWritableBytes: capacity) { bytes in
            do throws(Failure) {
                return try fill(UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(capacity)))
            } catch {
                failure = error
                return 0
            }
        }
        if count == 0 { moveWriterIndex(to: start) } else { setInteger(UInt32(count), at: start + 4) }
        if let failure { throw failure }
        return count
    }

    /// Appends a data frame with these contents, 1...`Limits.frameBytes`.
    mutating func writeDataFrame(_ contents: ByteBuffer) {
        writeInteger(FrameType.data.rawValue)
        writeRepeatingByte(0, count: 3)
        writeInteger(UInt32(contents.readableBytes))
        writeImmutableBuffer(contents)
    }

    private mutating func writePayload(of frame: Frame) {
        switch frame {
        case .item(let number):
            writeInteger(UInt32(number))
        case .file(let entry):
            if let path = entry.path { writeField(.path, text: path.text) }
            writeField(.executable, integer: UInt8(entry.executable ? 1 : 0))
            if let modified = entry.modified { writeTime(modified) }
            if let size = entry.size { writeField(.size, integer: size) }
            if entry.offset > 0 { writeField(.offset, integer: entry.offset) }
        case .folder(let path):
            writeField(.path, text: path.text)
        case .link(let path, let target):
            writeField(.path, text: path.text)
            writeField(.target, text: target.text)
        case .folderClosed(let path, let modified):
            if let path { writeField(.path, text: path.text) }
            if let modified { writeTime(modified) }
        case .fileEnd(let digest), .itemEnd(let digest):
            writeDigest(digest)
        case .present(let number, let digest):
            writeInteger(UInt32(number))
            if let digest { writeDigest(digest) }
        case .itemAbandoned(let number, let fault):
            writeInteger(UInt32(number))
            writeFault(fault)
        case .end:
            break
        case .cancel(let fault):
            writeFault(fault)
        }
    }

    private mutating func writeFieldHead(_ tag: FieldTag, length: Int) {
        writeMultipleIntegers(tag.rawValue, UInt16(length))
    }

    private mutating func writeField(_ tag: FieldTag, text: String) {
        writeFieldHead(tag, length: text.utf8.count)
        writeString(text)
    }

    private mutating func writeField(_ tag: FieldTag, integer: some FixedWidthInteger) {
        writeFieldHead(tag, length: integer.bitWidth / 8)
        writeInteger(integer)
    }

    private mutating func writeDigest(_ digest: Digest) {
        digest.withUnsafeBytes { bytes in
            writeFieldHead(.digest, length: bytes.count)
            writeBytes(bytes)
        }
    }

    private mutating func writeTime(_ time: Timestamp) {
        writeFieldHead(.modified, length: 12)
        writeMultipleIntegers(time.seconds, time.nanoseconds)
    }

    private mutating func writeFault(_ fault: TransferError) {
        writeField(.fault, text: fault.code.rawValue)
        writeField(.message, text: fault.message.cut(toBytes: FrameHeader.messageBytes))
        if let cause = fault.unusualCause { writeField(.cause, text: cause.rawValue) }
    }
}

extension Frame {
    fileprivate var type: FrameType {
        switch self {
        case .item: .item
        case .file: .file
        case .folder: .folder
        case .link: .link
        case .folderClosed: .folderClosed
        case .fileEnd: .fileEnd
        case .itemEnd: .itemEnd
        case .itemAbandoned: .itemAbandoned
        case .end: .end
        case .cancel: .cancel
        case .present: .present
        }
    }
}

extension String {
    /// The longest prefix of whole characters with at most `limit` bytes.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var count = 0
        return String(
            prefix { character in
                count += character.utf8.count
                return count <= limit
            })
    }
}
