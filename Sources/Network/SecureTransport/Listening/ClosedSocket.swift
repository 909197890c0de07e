internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import SystemCalls

/// A listening socket that another process keeps open while nothing is served on it.
package enum ClosedSocket {
    /// Closes each connection at once, so that no peer waits for an answer, until the task is cancelled.
    ///
    /// - Parameter passed: an open listening socket, which stays the caller's.
    package static func turnAway(_ passed: Int32) async {
        guard let copy = try? FileDescriptor.copy(of: passed),
            let server = try? await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer({ $0.close() })
                .withBoundSocket(copy.release()).get()
        else { return }
        await withTaskCancellationHandler {
            try? await server.closeFuture.get()
        } onCancel: {
            server.close(promise: nil)
        }
    }
}
