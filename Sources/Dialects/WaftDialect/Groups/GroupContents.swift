import Executors
import NIOCore
import Sharing
import Synchronization

/// The contents of a member on their way to the Inbox: the blocks of the stream in their order, from whichever thread brings
/// them. One thread at a time gives them to the receiver, which may block on the disk; no other one waits for it.
final class GroupContents: Sendable {
    private enum Work {
        case block(ByteBuffer)
        case fault(TransferError)
    }

    private struct Line {
        var blocks: [ByteBuffer] = []
        /// Why no more blocks come.
        var fault: TransferError?
        /// Whether a thread gives blocks to the receiver now.
        var isBusy = false
        var result: ContentsResult?

        mutating func begin() -> Bool {
            if isBusy { return false }
            isBusy = true
            return true
        }

        mutating func next() -> Work? {
            guard result == nil else {
                blocks = []
                isBusy = false
                return nil
            }
            if !blocks.isEmpty { return .block(blocks.removeFirst()) }
            if let fault { return .fault(fault) }
            isBusy = false
            return nil
        }
    }

    private let reception: Reception
    // Unsafe only for the compiler: only the thread that has set `isBusy` uses them.
    nonisolated(unsafe) private let transfer: IncomingTransfer
    nonisolated(unsafe) private let receiver: ContentsReceiver
    nonisolated(unsafe) private var missing: Int
    private let line = Mutex(Line())
    /// Passes after the end.
    private let end = Semaphore()

    /// - Parameter blocks: of the stream, at least 1.
    init(_ transfer: IncomingTransfer, _ reception: Reception, blocks: Int) {
        (self.reception, self.transfer, missing) = (reception, transfer, blocks)
        receiver = ContentsReceiver(transfer)
    }

    /// Blocks that wait for the receiver.
    var waiting: Int { line.withLock { $0.blocks.count } }

    /// Nil before the end of the transfer.
    var result: ContentsResult? { line.withLock { $0.result } }

    /// Puts the next block in the line. Does not wait.
    func add(_ block: ByteBuffer) { line.withLock { $0.blocks.append(block) } }

    /// Gives the blocks that wait to the receiver, unless another thread does so. May block on the disk.
    ///
    /// - Returns: the result if the transfer has just ended.
    func work() -> ContentsResult? {
        guard line.withLock({ $0.begin() }) else { return nil }
        var result: ContentsResult?
        while let work = line.withLock({ $0.next() }) {
            result = carryOut(work)
            guard let result else { continue }
            line.withLock { $0.result = result }
            end.signal()
        }
        return result
    }

    /// Ends the transfer, if it has not ended. Blocks until the disk has it.
    func end(with fault: TransferError) -> ContentsResult {
        line.withLock { $0.fault = $0.fault ?? fault }
        _ = work()
        end.wait()
        end.signal()
        guard let result else { preconditionFailure("the transfer has ended") }
        return result
    }

    /// - Returns: the result if the transfer is over.
    private func carryOut(_ work: Work) -> ContentsResult? {
        do throws(TransferError) {
            switch work {
            case .fault(let fault): throw fault
            case .block(let bytes):
                try receiver.take(bytes)
                missing -= 1
                guard missing == 0 else { return nil }
                try receiver.finish()
                return ContentsResult(nil, reception.end(transfer, try transfer.finish(), fault: nil))
            }
        } catch {
            return reception.fail(transfer, error)
        }
    }
}
