import Glibc

/// Changes in folders, by inotify(7). Used by one thread at a time.
package final class Inotify {
    package struct Event {
        /// The folder's watch; -1 for an overflow.
        package let watch: Int32
        /// `IN_…`.
        package let mask: UInt32
        /// The changed name in the folder, without the zeros after it; empty if the event is about the folder itself.
        package let name: [UInt8]
    }

    private let file: FileDescriptor

    /// - Throws: the kernel's error; the number of inotify objects of a user is limited.
    package init() throws(SystemError) {
        file = FileDescriptor(owning: try systemCall { inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK)) })
    }

    /// For poll(2): readable when there is an event. Valid as long as this object exists.
    package var descriptor: Int32 { file.raw }

    /// - Parameter events: `IN_…`.
    /// - Returns: the watch; that of before for a folder that is watched already.
    package func watch(_ path: String, for events: UInt32) throws(SystemError) -> Int32 {
        try systemCall { inotify_add_watch(file.raw, path, events) }
    }

    package func unwatch(_ watch: Int32) {
        // It fails if the folder is gone, and with it the watch.
        _ = inotify_rm_watch(file.raw, watch)
    }

    /// Takes all pending events.
    package func drain(_ take: (Event) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 8) { buffer in
            while let count = try? systemCall({ read(file.raw, buffer.baseAddress, buffer.count) }), count > 0 {
                // struct inotify_event: four 32-bit numbers, the last of which is the length of the name that follows.
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                while rest.count >= 16 {
                    let watch = rest.loadUnaligned(as: Int32.self)
                    let mask = rest.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
                    let length = Int(rest.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                    let name = rest.dropFirst(16).prefix(length)
                    take(Event(watch: watch, mask: mask, name: Array(name.prefix { $0 != 0 })))
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(16 + length))
                }
            }
        }
    }
}
