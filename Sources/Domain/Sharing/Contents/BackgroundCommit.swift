internal import Executors

/// The commits of one transfer. A second thread prepares whole items and commits full batches while the next items arrive:
/// both take as long as receiving small items, and a commit waits for the disk.
///
/// At most one such thread runs. If none can be started, the owner's thread does its work. Sendable: the owner has `batch`
/// except between the start of a thread and `ended`.
final class BackgroundCommit: @unchecked Sendable {
    /// Items and bytes after which a batch is committed: one sync serves many small items, and a large item does not
    /// wait for the next ones.
    private static let fullItems = 384
    private static let fullBytes: UInt64 = 64 << 20
    /// Items that are prepared together. Each keeps its file open until then, also while a silent sender keeps the transfer
    /// open: a few for each transfer leave descriptors for all others.
    private static let preparedItems = 8

    private let offer: Offer
    private let verdict: Verdict
    private let peer: PeerID
    private var batch: CommitBatch
    private let stored: @Sendable ([CommitBatch.StoredArrival]) -> Void
    private let ended = Semaphore()
    private var isRunning = false
    /// Items that `batch` does not have yet. The first ones are prepared.
    private var filling: [WholeItem] = []
    private var preparedCount = 0
    /// All items of the next commit.
    private var count = 0
    private var bytes: UInt64 = 0

    /// - Parameter stored: called after each commit that has stored items, on its thread.
    init(_ batch: CommitBatch, stored: @escaping @Sendable ([CommitBatch.StoredArrival]) -> Void) {
        (offer, verdict, peer) = (batch.offer, batch.verdict, batch.peer)
        (self.batch, self.stored) = (batch, stored)
    }

    func add(_ item: WholeItem) {
        filling.append(item)
        count += 1
        bytes += item.bytes
    }

    /// Begins to prepare the items if they are `preparedItems`, and to commit them if the batch is full.
    func start() {
        if count >= Self.fullItems || bytes >= Self.fullBytes {
            wait()
            (count, bytes) = (0, 0)
            start { $0.run() }
        } else if filling.count - preparedCount >= Self.preparedItems {
            if hasEnded { start { $0.batch.prepare() } } else { prepareFilling() }
        }
    }

    /// Commits all items now.
    func commit() {
        wait()
        (count, bytes) = (0, 0)
        takeFilling()
        run()
    }

    /// Gives access to the batch with all items, each of them prepared, while no commit runs.
    func with<Value>(_ body: (inout CommitBatch) -> Value) -> Value {
        wait()
        takeFilling()
        batch.prepare()
        return body(&batch)
    }

    /// Keeps the items that wait for the next attempt instead of storing them.
    func keep(_ fault: TransferError) {
        wait()
        takeFilling()
        batch.keep(fault)
    }

    private func start(_ work: @escaping @Sendable (BackgroundCommit) -> Void) {
        takeFilling()
        isRunning = BackgroundThread.start("waft-commit") { [self] in
            work(self)
            ended.signal()
        }
        if !isRunning { work(self) }
    }

    /// For the owner's thread, while the second one is busy.
    private func prepareFilling() {
        for index in filling.indices.dropFirst(preparedCount) { filling[index].prepare(offer, verdict, from: peer) }
        preparedCount = filling.count
    }

    private func takeFilling() {
        batch.add(filling)
        (filling, preparedCount) = ([], 0)
    }

    private func run() {
        let arrivals = batch.commit()
        if !arrivals.isEmpty { stored(arrivals) }
    }

    private var hasEnded: Bool {
        if isRunning, ended.tryWait() { isRunning = false }
        return !isRunning
    }

    private func wait() {
        if isRunning { ended.wait() }
        isRunning = false
    }
}
