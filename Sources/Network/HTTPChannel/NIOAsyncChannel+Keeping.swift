package import NIOCore

extension NIOAsyncChannel {
    /// Keeps it until its channel is closed.
    ///
    /// One that goes before ends the process, by a precondition of SwiftNIO: that of a connection which lost the race
    /// against another, was one too many, or had been accepted and not fetched when the server stopped.
    package func keepUntilClosed() {
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(self) {} }
    }
}
