internal import CLinuxShims
@preconcurrency internal import Dispatch
internal import Glibc

/// Reports that the links of this machine, or their addresses, may have changed.
package final class LinkChanges: Sendable {
    /// For one task. Changes that come before the next is taken are one.
    package let stream: AsyncStream<Void>
    private let source: any DispatchSourceRead

    /// - Returns: nil if the kernel gives no such socket (some sandboxes).
    package init?() {
        let file = CLinuxShims_rtnetlink_changes()
        guard file >= 0 else { return nil }
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        source = DispatchSource.makeReadSource(fileDescriptor: file, queue: DispatchQueue(label: "waft-links"))
        source.setEventHandler {
            InterfaceMonitor.drain(file)
            continuation.yield()
        }
        source.setCancelHandler { close(file) }
        source.resume()
    }

    deinit { source.cancel() }
}
