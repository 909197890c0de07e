import CLinuxShims
import Executors
import Glibc
import Synchronization
import SystemCalls

/// Starts to write many small files to the disk while more of them arrive.
///
/// Otherwise the kernel leaves all of it to the sync at the end, a fifth of the time for 100,000 files of 1 KB, in
/// which nothing else happens. The final sync alone decides whether they are stored.
final class BackgroundSync: Sendable {
    /// Files and bytes after which a sync starts.
    static let maximumFiles = 8_192
    static let maximumBytes: UInt64 = 32 << 20

    private struct State {
        var files = 0
        var bytes: UInt64 = 0
        var isSyncing = false
    }

    private let state = Mutex(State())
    private let folder: OpenFolder
    private let sync: @Sendable (Int32) -> Void

    /// One thread for all Inboxes: it waits for the disk.
    private static let thread = SerialThread(name: "waft-sync")

    /// - Parameters:
    ///   - folder: a folder on the file system that is written to.
    ///   - sync: called on the second thread, with a descriptor on that file system.
    init(_ folder: OpenFolder, sync: @escaping @Sendable (Int32) -> Void = { _ = CLinuxShims_syncfs($0) }) {
        self.folder = folder
        self.sync = sync
    }

    /// A file has been written; `bytes` of it are not yet being written to the disk.
    func wrote(_ bytes: UInt64) {
        let isDue = state.withLock { state in
            state.files += 1
            state.bytes += bytes
            // No second sync starts while the disk is still busy with the last one.
            guard state.files >= Self.maximumFiles || state.bytes >= Self.maximumBytes, !state.isSyncing else {
                return false
            }
            state = State(isSyncing: true)
            return true
        }
        guard isDue else { return }
        Self.thread.enqueue { [self] in
            // The kernel reports a disk fault once for each opening: the folder's own would consume the fault that the
            // final sync must see. If the opening fails, the final sync does all the work.
            let own = openat(folder.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if own >= 0 {
                sync(own)
                close(own)
            }
            state.withLock { $0.isSyncing = false }
        }
    }
}
