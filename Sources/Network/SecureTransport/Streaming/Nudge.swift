internal import CLinuxShims
internal import Glibc
package import SystemCalls

/// Tells the thread of a `SecureStream` that it has new work, as often as needed: it ends one `turn` that waits, or the wait of
/// the next one.
package final class Nudge: Sendable {
    /// An eventfd.
    private let file: SystemCalls.FileDescriptor

    /// - Throws: if there are no descriptors left.
    package init() throws(SystemError) {
        file = SystemCalls.FileDescriptor(owning: try systemCall { CLinuxShims_eventfd() })
    }

    var raw: CInt { file.raw }

    /// From any thread.
    package func ring() {
        var one: UInt64 = 1
        _ = Glibc.write(raw, &one, MemoryLayout<UInt64>.size)
    }

    /// Whether it has rung since this was asked last.
    func isHeard() -> Bool {
        var count: UInt64 = 0
        return Glibc.read(raw, &count, MemoryLayout<UInt64>.size) > 0
    }
}
