internal import NIOConcurrencyHelpers
internal import NIOCore

/// Which of a listener's connections read with full buffers: a few, as each of them holds up to two megabytes that have come and
/// not gone on, and what many send at once must fit into memory however many they are.
///
/// Those get a seat who have much to read while few others do. Nobody takes the place of who leaves a crowd: one after the other
/// would have had its large buffers. Who only waits, such as a sender whose offer nobody has answered, keeps nobody from it.
final class FullReaders: Sendable {
    private struct Reader {
        var lastWish: NIODeadline
        var hasSeat: Bool
    }

    /// Those who have wanted to read in full within `TransportLimits.fullReaderLapse`.
    private let readers = NIOLockedValueBox<[Admission.ID: Reader]>([:])

    /// Whether a connection that has much to read may do so in full now.
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

/// The buffers that one of a listener's connections reads with: they grow with what comes, beyond
/// `TransportLimits.crowdedBufferBytes` only for one that has a seat.
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

    /// - Returns: nil where the buffers that the channel keeps must not be used again, because they may be large.
    func nextBufferSize() -> Int? {
        guard let size = wanted.nextBufferSize(), size > TransportLimits.crowdedBufferBytes else {
            return wanted.nextBufferSize()
        }
        return readers.admits(reader) ? size : nil
    }

    mutating func record(actualReadBytes: Int) -> Bool { wanted.record(actualReadBytes: actualReadBytes) }
}
