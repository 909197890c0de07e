package import NIOCore

/// A way from the other side past a channel's handlers, for a long body: the thread that wants its bytes reads them itself.
///
/// What the channel is secured with has one, and is not known here.
package struct BodyInlet: Sendable {
    /// The next bytes, wherever they begin and end; may block. Nil when no more come this way.
    package typealias Receive = @Sendable () -> ByteBuffer?

    let open: @Sendable () -> Receive?
    let close: @Sendable () -> Void

    /// - Parameters:
    ///   - open: called on the event loop when all that has come was fired and read to its end; nil where there is no way past the
    ///     channel now. Nothing is fired until `close`, but at the end of the connection.
    ///   - close: called on the event loop; what comes next is fired again.
    package init(open: @escaping @Sendable () -> Receive?, close: @escaping @Sendable () -> Void) {
        self.open = open
        self.close = close
    }
}

/// A body that is read past the channel. Used by one task.
struct BorrowedBody: Sendable {
    private let receive: BodyInlet.Receive
    /// Where it is.
    private(set) var follower: ChunkFollower
    /// What has come and not been gone over.
    private(set) var rest: ByteBuffer
    /// Nothing more comes, this way or through the channel.
    private let isLast: Bool

    /// - Parameter rest: what has come of it already, from the beginning of a chunk on.
    init(_ receive: @escaping BodyInlet.Receive, rest: ByteBuffer) {
        (self.receive, follower, self.rest, isLast) = (receive, ChunkFollower(), rest, false)
    }

    /// The rest of `body`, which `last` is the end of.
    private init(_ body: BorrowedBody, last: ByteBuffer) {
        (receive, follower, rest, isLast) = ({ nil }, body.follower, body.rest, true)
        rest.writeImmutableBuffer(last)
    }

    /// The same body where nothing comes any more but `last`.
    func ending(with last: ByteBuffer) -> BorrowedBody { BorrowedBody(self, last: last) }

    /// Whether it has come to its end, as far as no decoder can say so any more.
    var hasEnded: Bool {
        let end = "0\r\n\r\n"
        return isLast && rest.readableBytes <= end.utf8.count && follower.introduction + String(buffer: rest) == end
    }

    /// The next contents; may block. Nil where it goes on through the channel.
    mutating func next() -> ByteBuffer? {
        while true {
            switch follower.step(&rest) {
            case .data(let bytes): return bytes
            case .boundary: continue
            case .stopped: return nil
            case .starved:
                // Let go of, so that what comes next finds its memory free.
                rest = ByteBuffer()
                guard let more = receive() else { return nil }
                rest = more
            }
        }
    }
}
