internal import NIOConcurrencyHelpers
internal import NIOCore

/// Decides which of a listener's connections read with full buffers. Only a few do: each holds up to two megabytes of
/// pending data, and the data of all senders must fit into memory.
///
/// A connection with much to read gets a seat while few compete. A seat freed in a crowd is not reassigned: each in
/// turn would get large buffers. An idle connection, such as one with an unanswered offer, is not counted.
final class FullReaders: Sendable {
    private struct Reader {
        var lastWish: NIODeadline
        var hasSeat: Bool
    }

    /// Connections that wanted a full read within `TransportLimits.fullReaderLapse`.
    private let readers = NIOLockedValueBox<[Admission.ID: Reader]>([:])

    /// Whether a connection with much to read may read with full buffers now.
    func admits(_ id: Admission.ID, at now: NIODeadline = .now()) -> Bool {
        readers.withLockedValue { readers in
            if readers.count > TransportLimits.fullReaders,
                let lapsed = readers.first(where: { now - $0.value.lastWish > Self.lapse })
            {
                readers[lapsed.key] = nil
            }
            var reader = readers[id] ?? Reader(lastWish: now, hasSeat: false)
            reader.lastWish = now
            readers[id] = reader
            if !reader.hasSeat, readers.count <= TransportLimits.fullReaders { readers[id]?.hasSeat = true }
            return readers[id]?.hasSeat ?? false
        }
    }

    /// A connection has ended.
    func leave(_ id: Admission.ID) {
        readers.withLockedValue { $0[id] = nil }
    }

    private static let lapse = TimeAmount(TransportLimits.fullReaderLapse)
}

/// The receive buffers of one of a listener's connections. They grow with the incoming data, beyond
/// `TransportLimits.crowdedBufferBytes` only for a connection with a seat.
struct SeatedBufferAllocator: RecvByteBufferAllocator {
    private var wanted = AdaptiveRecvByteBufferAllocator(
        minimum: 2048, initial: 2048, maximum: TransportLimits.bufferBytes)
    private let readers: FullReaders
    private let reader: Admission.ID

    init(_ readers: FullReaders, _ reader: Admission.ID) {
        self.readers = readers
        self.reader = reader
    }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        allocator.buffer(capacity: nextBufferSize() ?? TransportLimits.crowdedBufferBytes)
    }

    /// - Returns: nil if the channel must not reuse its buffers, because they may be large.
    func nextBufferSize() -> Int? {
        guard let size = wanted.nextBufferSize(), size > TransportLimits.crowdedBufferBytes else {
            return wanted.nextBufferSize()
        }
        return readers.admits(reader) ? size : nil
    }

    mutating func record(actualReadBytes: Int) -> Bool { wanted.record(actualReadBytes: actualReadBytes) }
}
