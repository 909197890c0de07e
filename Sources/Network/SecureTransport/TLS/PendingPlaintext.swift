internal import NIOCore

/// Data that the layer above has written and that is not encrypted yet.
///
/// Records are filled across the borders of writes: many small writes become few records.
struct PendingPlaintext {
    private struct Write {
        var bytes: ByteBuffer
        let promise: EventLoopPromise<Void>?
    }

    private var writes = CircularBuffer<Write>(initialCapacity: 8)

    /// The number of `writes`, from the first, that have been flushed.
    private var flushedCount = 0

    private var writtenBytes = 0
    /// Bytes that have been flushed and not encrypted.
    private(set) var flushedBytes = 0

    /// Small pieces on their way into one record.
    private var record = ByteBuffer()

    /// Whether any flushed data is not encrypted.
    var hasFlushed: Bool { flushedCount > 0 }

    /// Whether all written data is encrypted.
    var isEmpty: Bool { writes.isEmpty }

    mutating func append(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        writtenBytes += bytes.readableBytes
        writes.append(Write(bytes: bytes, promise: promise))
    }

    mutating func flush() {
        flushedCount = writes.count
        flushedBytes = writtenBytes
    }

    /// Encrypts up to `limit` bytes of the flushed data.
    ///
    /// - Parameters:
    ///   - limit: a multiple of `TransportLimits.recordBytes`.
    ///   - completed: gets the promises of the writes that are encrypted to their end; also when this throws.
    mutating func encrypt(
        upTo limit: Int,
        with engine: TLSEngine,
        completed: inout [EventLoopPromise<Void>]
    ) throws(TLSError) {
        var room = limit
        while room > 0, flushedCount > 0 {
            let index = writes.startIndex
            let count = writes[index].bytes.readableBytes
            let isLast = flushedCount == 1
            if record.readableBytes == 0, count >= TransportLimits.recordBytes || isLast {
                // Whole records, straight from the caller's buffer; at the very end also a partial one.
                let whole = min(count, room)
                let taken = isLast && whole == count ? whole : whole - whole % TransportLimits.recordBytes
                try engine.encrypt(taken, of: &writes[index].bytes)
                room -= taken
            } else {
                let taken = min(count, TransportLimits.recordBytes - record.readableBytes)
                if var piece = writes[index].bytes.readSlice(length: taken) { record.writeBuffer(&piece) }
                room -= taken
                if record.readableBytes == TransportLimits.recordBytes { try encryptRecord(with: engine) }
            }
            if writes[index].bytes.readableBytes == 0 {
                flushedCount -= 1
                if let promise = writes.removeFirst().promise { completed.append(promise) }
            }
        }
        flushedBytes -= limit - room
        writtenBytes -= limit - room
        // Only at the end of the flushed data: when the room is used up the record is full, as the limit is in records.
        if record.readableBytes > 0 { try encryptRecord(with: engine) }
    }

    private mutating func encryptRecord(with engine: TLSEngine) throws(TLSError) {
        try engine.encrypt(record.readableBytes, of: &record)
        record.clear()
    }

    /// Removes the data that has not been flushed.
    mutating func takeUnflushed() -> [EventLoopPromise<Void>] {
        let unflushed = writes.dropFirst(flushedCount).compactMap(\.promise)
        writes.removeLast(writes.count - flushedCount)
        writtenBytes = flushedBytes
        return unflushed
    }

    /// Removes everything.
    mutating func takeAll() -> [EventLoopPromise<Void>] {
        let promises = writes.compactMap(\.promise)
        self = PendingPlaintext()
        return promises
    }
}
