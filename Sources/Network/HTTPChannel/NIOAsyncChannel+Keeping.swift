package import NIOCore

extension NIOAsyncChannel {
    /// Keeps the wrapper until its channel is closed.
    ///
    /// If the wrapper is released earlier, a precondition of SwiftNIO ends the process. This concerns a connection that
    /// lost the race against another, exceeded a limit, or was accepted but not fetched when the server stopped.
    package func keepUntilClosed() {
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(self) {} }
    }
}
