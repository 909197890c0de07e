import Executors
import Glibc
import Sharing
import Synchronization
import SystemCalls

/// Small files of a tree, written by a second thread while the next ones are created.
///
/// Creating a small file takes the file system longer than any other step, and it can do both at the same time. A sealed
/// file gets its key here, for which libcrypto takes as long. A failure is reported at a later file, or at the end.
final class WriteBehindQueue: Sendable {
    /// Files of more bytes than this are written as they come.
    static let maximumBytes = 32 << 10
    /// So many are handed over together, as waking a thread takes as long as writing a file.
    private static let batchCount = 8
    /// Batches that may wait for the second thread, of all trees together.
    private static let maximumBatches = 3
    /// Files of one tree that are open here, at most.
    static let maximumFiles = (1 + maximumBatches) * batchCount

    struct File: Sendable {
        /// Owned: closed when it is written.
        let descriptor: Int32
        let entry: FileEntry
        let displayPath: String
        let contents: [UInt8]
        /// Seals the contents, on the thread that writes them; nil for a file that is not sealed.
        var sealing: (@Sendable ([UInt8]) throws(SystemError) -> [UInt8])?
    }

    struct WriteError: Error {
        let error: SystemError
        let displayPath: String
    }

    private struct State {
        var batch: [File] = []
        var fault: WriteError?
        var hasHandedOver = false
        var isAbandoned = false
    }

    private let state = Mutex(State())
    private let makingRoom: @Sendable () -> Bool

    /// The second thread, one for all trees, and one pass for each batch that may wait for it.
    private static let writer = SerialThread(name: "waft-writer")
    private static let passes = Semaphore(UInt32(maximumBatches))

    /// - Parameter makingRoom: called on either thread when the disk is full; whether to try again.
    init(makingRoom: @escaping @Sendable () -> Bool) {
        self.makingRoom = makingRoom
    }

    deinit {
        for file in state.withLock({ $0.batch }) { close(file.descriptor) }
    }

    /// Takes a file whose contents are complete.
    /// - Throws: the fault of an earlier file.
    func add(_ file: File) throws(WriteError) {
        let (batch, fault) = state.withLock { state -> ([File], WriteError?) in
            state.batch.append(file)
            guard state.batch.count == Self.batchCount else { return ([], state.fault) }
            defer { state.batch = [] }
            return (state.batch, state.fault)
        }
        if !batch.isEmpty { handOver(batch) }
        if let fault { throw fault }
    }

    private func handOver(_ batch: [File]) {
        // If the second thread has enough to do, this thread writes the batch itself.
        guard Self.passes.tryWait() else { return write(batch) }
        state.withLock { $0.hasHandedOver = true }
        Self.writer.enqueue { [self] in
            write(batch)
            Self.passes.signal()
        }
    }

    /// Waits until everything is written and closed.
    /// - Throws: the first failure of a file.
    func finish() throws(WriteError) {
        let (batch, hasHandedOver) = state.withLock { state -> ([File], Bool) in
            defer { state.batch = [] }
            return (state.batch, state.hasHandedOver)
        }
        // A few files are not worth a thread's waking up.
        write(batch)
        if hasHandedOver { Self.writer.drain() }
        if let fault = state.withLock({ $0.fault }) { throw fault }
    }

    /// Closes everything without writing it: the item is discarded.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
        // An earlier fault was reported already, or no longer matters.
        try? finish()
    }

    private func write(_ batch: [File]) {
        for file in batch {
            // The item has failed: no room is made for its other files.
            if state.withLock({ $0.isAbandoned || $0.fault != nil }) {
                close(file.descriptor)
                continue
            }
            do throws(SystemError) {
                var writing = WritingFile(
                    FileDescriptor(owning: file.descriptor), entry: file.entry, displayPath: file.displayPath)
                let contents = try file.sealing?(file.contents) ?? file.contents
                try contents.withBytes { (contents) throws(SystemError) in
                    try writing.write(contents, makingRoom: makingRoom)
                }
                _ = try writing.end(makingRoom: makingRoom)
            } catch {
                let fault = WriteError(error: error, displayPath: file.displayPath)
                state.withLock { $0.fault = $0.fault ?? fault }
            }
        }
    }
}
