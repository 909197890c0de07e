import CLinuxShims
import Synchronization
import SystemCalls

/// Syncs the file system of the staging folder as a whole.
///
/// The kernel reports a fault of the disk once for each opening, and all commits use the same one. So a fault that one
/// commit meets counts for all items that were being written then.
final class WholeSync: Sendable {
    private let folder: OpenFolder
    private let sync: @Sendable (Int32) -> Bool
    /// Held while a sync runs.
    private let turn = Mutex(())
    private let faults = Atomic(0)

    /// - Parameters:
    ///   - folder: a folder on the file system that is written to.
    ///   - sync: whether the file system of a descriptor was synced.
    init(_ folder: OpenFolder, sync: @escaping @Sendable (Int32) -> Bool = { CLinuxShims_syncfs($0) == 0 }) {
        self.folder = folder
        self.sync = sync
    }

    /// A mark of the present moment; an item takes it before its first byte is written.
    var mark: Int { faults.load(ordering: .acquiring) }

    /// Syncs the file system.
    /// - Returns: whether all that was written since the marks is on the disk. If false, another program's file may have
    ///   caused the fault.
    func syncs(since marks: some Sequence<Int>) -> Bool {
        turn.withLock { _ in
            if !sync(folder.raw) { faults.add(1, ordering: .releasing) }
            let now = mark
            return marks.allSatisfy { $0 == now }
        }
    }
}
