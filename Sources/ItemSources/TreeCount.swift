import Executors
import Glibc
import Sharing
import Synchronization
import SystemCalls

/// Goes through a folder once: counts, and finds what cannot be sent.
///
/// Asking for the size of each file is most of it, and the kernel's time. Where there is much in a folder a second thread helps, by
/// a walk of its own, while the sender has nothing else to do.
struct TreeCount {
    /// Entries after which it is seen whether there is more to do than for one: to start a thread takes as long as some dozens.
    private static let alone: UInt64 = 512

    private let user = geteuid()
    private var helper: Helper?

    /// - Parameter leftOut: called with each entry that cannot be sent and is left out, in walk order.
    /// - Throws: one fault for the entries that cannot be sent, in walk order: path, reason and advice for each.
    static func totals(
        of root: consuming FileDescriptor, origin: String, selection: TreeSelection = .everything,
        leftOut: @escaping (SourceFault) -> Void = { _ in }
    ) throws(SourceFault) -> TreeTotals {
        let all = TreeSelection(excluded: selection.excluded)
        let walk = try FolderWalk(root, origin: origin, isOffered: false, selection: all)
        var count = TreeCount()
        if let totals = try? count.together(walk) { return totals }
        // Two walks stop at the first fault and find faults in no fixed order, so one walk searches again.
        return try count.inOrder(walk, leftOut: selection.skipsUnsendable ? leftOut : nil)
    }

    /// - Returns: nil if the helper found an entry that cannot be sent, or if the folder exceeds the limits.
    /// - Throws: for an entry that cannot be sent.
    private mutating func together(_ walk: FolderWalk) throws(SourceFault) -> TreeTotals? {
        defer { helper?.stop() }
        var totals = TreeTotals()
        var next = Self.alone
        while let step = try walk.next() {
            guard try totals.count(step, of: walk, for: user) else { return nil }
            guard totals.entries >= next else { continue }
            if helper?.isDone ?? true {
                guard collect(&totals) else { return nil }
                helper = Helper(beside: walk, for: user)
            }
            next = totals.entries + Self.alone
        }
        return collect(&totals) ? totals : nil
    }

    /// Waits for what the helper has counted, and adds it.
    private mutating func collect(_ totals: inout TreeTotals) -> Bool {
        guard let others = helper?.totals() else { return helper == nil }
        helper = nil
        return totals.add(others)
    }

    /// - Parameter leftOut: gets the entries that cannot be sent; nil if they are a fault.
    private func inOrder(
        _ walk: FolderWalk, leftOut: ((SourceFault) -> Void)? = nil
    ) throws(SourceFault) -> TreeTotals {
        let again: FolderWalk
        do {
            again = try FolderWalk(repeating: walk)
        } catch {
            throw .disk(walk.origin, error)
        }
        if let leftOut { again.skipUnsendable(leftOut) }
        defer { again.leftOut = nil }
        var totals = TreeTotals()
        var found: SourceFault?
        while true {
            do throws(SourceFault) {
                guard let step = try again.next() else { break }
                if try totals.count(step, of: again, for: user) { continue }
            } catch {
                if let leftOut {
                    leftOut(error)
                    continue
                }
                // The walk continues after the entry that failed.
                guard var faults = found else {
                    found = error
                    continue
                }
                let hasRoom = faults.add(error)
                found = faults
                if hasRoom { continue }
                break
            }
            throw found ?? TreeTotals.tooMuch(walk.origin)
        }
        if let found { throw found }
        return totals
    }

    /// The second thread.
    private final class Helper: Sendable {
        private let isStopped = Atomic(false)
        private let hasEnded = Atomic(false)
        /// Its own, until it is through.
        private let walk: Mutex<FolderWalk?>
        /// Nil where something cannot be sent.
        private let counted = Mutex<TreeTotals?>(nil)
        private let end = Semaphore()

        /// - Returns: nil where there is nothing to share, and no descriptor or thread to be had: then `walk` goes on alone.
        init?(beside walk: FolderWalk, for user: uid_t) {
            // Nobody else has it from here on.
            nonisolated(unsafe) let mine = try? walk.divided()
            guard mine != nil else { return nil }
            self.walk = Mutex(mine)
            guard BackgroundThread.start({ [self] in run(for: user) }) else { return nil }
        }

        var isDone: Bool { hasEnded.load(ordering: .relaxed) }

        /// Waits until it does nothing any more, and has let go of every folder.
        func stop() {
            isStopped.store(true, ordering: .relaxed)
            _ = totals()
        }

        /// Waits for what it has counted.
        /// - Returns: nil where something cannot be sent.
        func totals() -> TreeTotals? {
            end.wait()
            // For who asks again.
            end.signal()
            return counted.withLock { $0 }
        }

        private func run(for user: uid_t) {
            let totals = walk.withLock { walk in
                // Before who waits for the end goes on.
                defer { walk = nil }
                return walk.flatMap { count($0, for: user) }
            }
            counted.withLock { $0 = totals }
            hasEnded.store(true, ordering: .relaxed)
            end.signal()
        }

        /// - Returns: nil if an entry cannot be sent, or if the folder exceeds the limits.
        private func count(_ walk: FolderWalk, for user: uid_t) -> TreeTotals? {
            var totals = TreeTotals()
            do throws(SourceFault) {
                while !isStopped.load(ordering: .relaxed), let step = try walk.next() {
                    guard try totals.count(step, of: walk, for: user) else { return nil }
                }
            } catch {
                return nil
            }
            return totals
        }
    }
}
