package import NIOCore

extension TLSHandler {
    /// Gives TLS and the socket away, and closes the channel, which has no part in the connection any more.
    ///
    /// - Parameter early: plaintext that this handler has fired and that belongs to the stream.
    /// - Throws: `ChannelError` if the connection is about to end, something written has not left yet, or the channel
    ///   has no socket; `SystemError` if there are no descriptors left.
    func leave(early: ByteBuffer) throws -> SecureStream {
        guard state == .open, outbound == .open, !isEncrypting, pending.isEmpty, let context, !engine.hasOutbound,
            !engine.peerHasClosed, (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) == 0
        else { throw ChannelError.ioOnClosedChannel }
        let stream = try context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { socket in
            try SecureStream(engine, socket: socket, early: early)
        }
        guard let stream else { throw ChannelError.operationUnsupported }
        state = .left
        context.close(mode: .all, promise: nil)
        return stream
    }
}

extension Channel {
    /// Makes a connection of a `SecureListener` or `SecureDialer` a stream for a thread, and closes this channel.
    ///
    /// On its event loop.
    /// - Parameter early: plaintext that has been read from the channel and belongs to the stream.
    /// - Throws: if the connection is about to end, or something written has not left yet.
    package func leave(early: ByteBuffer) throws -> SecureStream {
        try tlsHandler().leave(early: early)
    }
}
