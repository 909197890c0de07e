import NIOCore

extension TLSHandler {
    /// - Returns: nil if the channel has no socket, or no longer has one.
    static func withSocket<Result>(_ context: ChannelHandlerContext, _ body: (CInt) -> Result) -> Result? {
        try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self, body)
    }
}
