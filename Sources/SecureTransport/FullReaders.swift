internal import NIOConcurrencyHelpers
internal import NIOCore

/// Which of a listener's connections read with full buffers: a few at a time, as each of them holds up to a megabyte that has come
/// and not gone on, and what many send at once must fit into memory however many they are.
///
/// A seat is free again when its connection is gone, or has read nothing in full for a moment: those who only wait, such as
/// senders whose offer nobody has answered, keep nobody from it.
final class FullReaders: Sendable {
    private struct Seat {
        var reader: Admission.ID
        var lastRead: NIODeadline
    }

    private let seats = NIOLockedValueBox<[Seat]>([])

    /// Whether a connection may read in full now. If so it has a seat, from now on for `TransportLimits.fullReaderLapse`.
    func admits(_ reader: Admission.ID, at now: NIODeadline = .now()) -> Bool {
        seats.withLockedValue { seats in
            let seat = Seat(reader: reader, lastRead: now)
            if let own = seats.firstIndex(where: { $0.reader == reader }) {
                seats[own] = seat
            } else if seats.count < TransportLimits.fullReaders {
                seats.append(seat)
            } else if let lapsed = seats.firstIndex(where: { now - $0.lastRead > Self.lapse }) {
                seats[lapsed] = seat
            } else {
                return false
            }
            return true
        }
    }

    /// A connection has ended.
    func leave(_ reader: Admission.ID) {
        seats.withLockedValue { $0.removeAll { $0.reader == reader } }
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
