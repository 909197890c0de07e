package import NIOCore

/// Lets a thread read a long body itself, past the channel's handlers.
///
/// The layer that secures the channel provides the functions; this module does not know it.
package struct BodyInlet: Sendable {
    /// Returns the next bytes, split at any place; may block. Nil when no more bytes come this way.
    package typealias Receive = @Sendable () -> ByteBuffer?

    let open: @Sendable () -> Receive?
    let close: @Sendable () -> Void

    /// - Parameters:
    ///   - open: called on the event loop when every byte received so far has been fired and read. Returns nil if no
    ///     way past the channel is free. Until `close` the channel fires nothing, except at the end of the connection.
    ///   - close: called on the event loop; the channel fires the next bytes again.
    package init(open: @escaping @Sendable () -> Receive?, close: @escaping @Sendable () -> Void) {
        self.open = open
        self.close = close
    }
}

/// A body that is read past the channel. Used by one task.
struct BorrowedBody: Sendable {
    private let receive: BodyInlet.Receive
    /// The position in the body.
    private(set) var follower: ChunkFollower
    /// Bytes that have arrived and that `follower` has not passed yet.
    private(set) var rest: ByteBuffer
    /// No more bytes come, neither this way nor through the channel.
    private let isLast: Bool

    /// - Parameter rest: bytes of the body that have arrived already, from the beginning of a chunk.
    init(_ receive: @escaping BodyInlet.Receive, rest: ByteBuffer) {
        (self.receive, follower, self.rest, isLast) = (receive, ChunkFollower(), rest, false)
    }

    /// The rest of `body`, which ends with `last`.
    private init(_ body: BorrowedBody, last: ByteBuffer) {
        (receive, follower, rest, isLast) = ({ nil }, body.follower, body.rest, true)
        rest.writeImmutableBuffer(last)
    }

    /// The same body, to which only `last` is added.
    func ending(with last: ByteBuffer) -> BorrowedBody { BorrowedBody(self, last: last) }

    /// Whether the body is complete. Used when no decoder can report its end any more.
    var hasEnded: Bool {
        let end = "0\r\n\r\n"
        return isLast && rest.readableBytes <= end.utf8.count && follower.introduction + String(buffer: rest) == end
    }

    /// The next contents; may block. Nil if the rest of the body comes through the channel.
    mutating func next() -> ByteBuffer? {
        while true {
            switch follower.step(&rest) {
            case .data(let bytes): return bytes
            case .boundary: continue
            case .stopped: return nil
            case .starved:
                // Released, so that the memory is free for the next bytes.
                rest = ByteBuffer()
                guard let more = receive() else { return nil }
                rest = more
            }
        }
    }
}
