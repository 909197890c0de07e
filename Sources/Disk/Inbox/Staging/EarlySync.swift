import CLinuxShims
import Executors
import Glibc
import Synchronization
import SystemCalls

/// Has the disk begin with what comes in many small files while more of it comes.
///
/// The kernel leaves it all for the sync at the end otherwise: a fifth of the time that 100,000 files of 1 KB take, in
/// which nothing else is done. That one is made all the same, and is what decides whether they are stored.
final class EarlySync: Sendable {
    /// Files and bytes that are left to the disk together.
    static let mostFiles = 8_192
    static let mostBytes: UInt64 = 32 << 20

    private struct State {
        var files = 0
        var bytes: UInt64 = 0
        var isSyncing = false
    }

    private let state = Mutex(State())
    private let folder: OpenFolder
    private let sync: @Sendable (Int32) -> Void

    /// One for all Inboxes: it waits for the disk.
    private static let thread = SerialThread()

    /// - Parameters:
    ///   - folder: on the file system that is written to.
    ///   - sync: what is done on the second thread, with a descriptor on that file system.
    init(_ folder: OpenFolder, sync: @escaping @Sendable (Int32) -> Void = { _ = CLinuxShims_syncfs($0) }) {
        self.folder = folder
        self.sync = sync
    }

    /// A file has been written, of which the disk does not know so many bytes yet.
    func wrote(_ bytes: UInt64) {
        let isDue = state.withLock { state in
            state.files += 1
            state.bytes += bytes
            // A disk that is not done with the last ones has enough to do.
            guard state.files >= Self.mostFiles || state.bytes >= Self.mostBytes, !state.isSyncing else { return false }
            state = State(isSyncing: true)
            return true
        }
        guard isDue else { return }
        Self.thread.enqueue { [self] in
            // The kernel tells a fault of the disk once to each opening: on the folder's own this would take away what
            // the sync at the end must hear. Where it cannot be opened, that one does all the work.
            let own = openat(folder.raw, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            if own >= 0 {
                sync(own)
                close(own)
            }
            state.withLock { $0.isSyncing = false }
        }
    }
}
