package import NIOCore

/// Lets the thread that produces the pieces of a long body send them itself, past the channel's handlers.
///
/// The layer that secures the channel provides the functions; this module does not know it.
package struct BodyPassage: Sendable {
    package enum Outcome: Sendable {
        /// The kernel has every byte.
        case sent
        /// Every byte was taken; after `close` the kernel has them.
        case left
        /// No byte was taken: the pieces must be sent through the channel.
        case over
    }

    /// Sends the buffers in order; may block.
    package typealias Send = @Sendable (_ buffers: [ByteBuffer]) -> Outcome

    let open: @Sendable () async -> Send?
    let close: @Sendable () -> EventLoopFuture<Void>

    /// - Parameters:
    ///   - open: called when all bytes written to the channel have left. Returns nil if no way past it is free now.
    ///   - close: later writes to the channel leave after the bytes that were sent this way.
    package init(open: @escaping @Sendable () async -> Send?, close: @escaping @Sendable () -> EventLoopFuture<Void>) {
        self.open = open
        self.close = close
    }
}

/// A piece of a body without an announced length (RFC 9112, section 7.1).
package enum HTTPChunk {
    private static let end = ByteBuffer(string: "\r\n")

    private static func beginning(_ count: Int) -> String { "\(String(count, radix: 16))\r\n" }

    /// The buffers to send for `piece`, which is not empty.
    static func around(_ piece: ByteBuffer) -> [ByteBuffer] {
        [ByteBuffer(string: beginning(piece.readableBytes)), piece, end]
    }

    /// The maximum number of bytes in a piece whose whole chunk has at most `bytes`, which are 16 or more.
    package static func contents(of bytes: Int) -> Int {
        let around = beginning(bytes).utf8.count + end.readableBytes
        // One byte more if the size then has one digit less.
        return bytes - around + (beginning(bytes - around + 1).utf8.count + end.readableBytes < around ? 1 : 0)
    }
}
