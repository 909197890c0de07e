internal import Executors

/// The commits of one transfer. A full batch is committed by a second thread while the next items arrive: a commit waits
/// for the disk, and takes as long as receiving small items.
///
/// At most one commit runs, and `with` waits for it. If no thread can be started, the owner's thread commits. Sendable: the
/// owner has `batch` except between the start of a thread and `ended`.
final class BackgroundCommit: @unchecked Sendable {
    /// Items and bytes after which a batch is committed: one sync serves many small items, and a large item does not
    /// wait for the next ones.
    private static let fullItems = 384
    private static let fullBytes: UInt64 = 64 << 20

    private var batch: CommitBatch
    private let stored: @Sendable ([CommitBatch.StoredArrival]) -> Void
    private let ended = Semaphore()
    private var isRunning = false
    /// Items for the next commit.
    private var filling: [WholeItem] = []
    private var fillingBytes: UInt64 = 0

    /// - Parameter stored: called after each commit that has stored items, on its thread.
    init(_ batch: CommitBatch, stored: @escaping @Sendable ([CommitBatch.StoredArrival]) -> Void) {
        (self.batch, self.stored) = (batch, stored)
    }

    func add(_ item: WholeItem) {
        filling.append(item)
        fillingBytes += item.bytes
    }

    /// Begins to commit the items, if these are enough. Waits for the commit before.
    func startIfFull() {
        guard filling.count >= Self.fullItems || fillingBytes >= Self.fullBytes else { return }
        wait()
        takeFilling()
        isRunning = BackgroundThread.start("waft-commit") { [self] in
            run()
            ended.signal()
        }
        if !isRunning { run() }
    }

    /// Commits all items now.
    func commit() {
        wait()
        takeFilling()
        run()
    }

    /// Gives access to the batch with all items, while no commit runs.
    func with<Value>(_ body: (inout CommitBatch) -> Value) -> Value {
        wait()
        return body(&batch)
    }

    /// Keeps the items that wait for the next attempt instead of storing them.
    func keep(_ fault: TransferError) {
        wait()
        takeFilling()
        batch.keep(fault)
    }

    private func takeFilling() {
        batch.add(filling)
        (filling, fillingBytes) = ([], 0)
    }

    private func run() {
        let arrivals = batch.commit()
        if !arrivals.isEmpty { stored(arrivals) }
    }

    private func wait() {
        if isRunning { ended.wait() }
        isRunning = false
    }
}
