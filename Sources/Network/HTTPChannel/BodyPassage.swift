package import NIOCore

/// A way to the other side past a channel's handlers, for the pieces of a long body: the thread that produces them sends them.
///
/// What the channel is secured with has one, and is not known here.
package struct BodyPassage: Sendable {
    package enum Outcome: Sendable {
        /// Everything is with the kernel.
        case sent
        /// Everything was taken; after `close` it is with the kernel.
        case left
        /// Nothing was taken: it is to be sent through the channel.
        case over
    }

    /// Sends buffers one behind the other; may block.
    package typealias Send = @Sendable (_ buffers: [ByteBuffer]) -> Outcome

    let open: @Sendable () async -> Send?
    let close: @Sendable () -> EventLoopFuture<Void>

    /// - Parameters:
    ///   - open: called when everything that was written to the channel has left; nil where there is no way past it now.
    ///   - close: what is written to the channel afterwards leaves behind what was sent.
    package init(open: @escaping @Sendable () async -> Send?, close: @escaping @Sendable () -> EventLoopFuture<Void>) {
        self.open = open
        self.close = close
    }
}

/// A piece of a body of which it is not said how long it is (RFC 9112, section 7.1).
package enum HTTPChunk {
    private static let end = ByteBuffer(string: "\r\n")

    private static func beginning(_ count: Int) -> String { "\(String(count, radix: 16))\r\n" }

    /// What leaves for `piece`, which is not empty.
    static func around(_ piece: ByteBuffer) -> [ByteBuffer] {
        [ByteBuffer(string: beginning(piece.readableBytes)), piece, end]
    }

    /// Most bytes of a piece that is a chunk of at most `bytes`, which are 16 or more.
    package static func contents(of bytes: Int) -> Int {
        let around = beginning(bytes).utf8.count + end.readableBytes
        // One more where that takes a digit less.
        return bytes - around + (beginning(bytes - around + 1).utf8.count + end.readableBytes < around ? 1 : 0)
    }
}
