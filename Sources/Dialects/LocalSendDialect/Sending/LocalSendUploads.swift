import Digests
import HTTPChannel
import Sharing

/// Sends the accepted files of a session, over two connections as the app does.
///
/// A file whose connection breaks is sent again from its beginning, as long as there is progress. A file that fails does not
/// keep the others from going on.
struct LocalSendUploads: Sendable {
    private static let connections = 2
    /// How often a file is sent whose digest is wrong on the other side.
    private static let attempts = 3
    private static let shortestPause: Duration = .milliseconds(250)
    private static let longestPause: Duration = .seconds(5)

    /// Opens a connection, calls its argument with it, and closes it.
    typealias Connecting = @Sendable ((HTTPClient) async -> Void) async throws -> Void

    let plan: LocalSendPlan
    let session: LocalSendSession
    let times: LocalSendTimes
    let cancellation: Cancellation
    let receiver: ReceiverCancellation
    let board: UploadBoard
    let connect: Connecting

    /// Why one connection has ended.
    private enum Leave {
        /// There is nothing more for it.
        case over
        /// Another one is needed.
        case usedUp
        case broken(any Error)
    }

    /// - Parameter first: the connection of the question.
    func run(_ first: HTTPClient, files: Int) async {
        await withDiscardingTaskGroup { group in
            for _ in 1..<max(1, min(Self.connections, files)) {
                board.enter()
                group.addTask { await work(nil) }
            }
            await work(first)
            // Another connection may still be opened, and is not needed.
            if board.isOver { group.cancelAll() }
        }
    }

    private func work(_ first: HTTPClient?) async {
        var leave = Leave.usedUp
        if let first { leave = await send(over: first) }
        var pause = Self.shortestPause
        while true {
            switch leave {
            case .over: return
            case .usedUp: pause = Self.shortestPause
            case .broken(let error):
                // Another connection may do without this one: some receivers serve one at a time.
                if board.leave() { return }
                guard board.mayGoOn(for: times.retryFor) else { return board.stop(Self.fault(error)) }
                try? await Task.sleep(for: pause * Double.random(in: 0.75...1.25))
                pause = min(pause * 2, Self.longestPause)
            }
            if isCancelled || Task.isCancelled { return board.stop(cancelled) }
            if board.leaveIfIdle() { return }
            do {
                var next = Leave.usedUp
                try await connect { next = await send(over: $0) }
                leave = next
            } catch {
                leave = .broken(error)
            }
        }
    }

    /// Sends files until there are no more, or the connection is of no further use.
    private func send(over http: HTTPClient) async -> Leave {
        let client = LocalSendClient(http)
        var hasWorked = false
        while var job = board.take() {
            let file = plan.files[job.file]
            guard let token = session.files[file.announced.id] else { return .over }
            do {
                let answer = try await client.upload(
                    file, of: plan.sources[file.item], ticket: (session.sessionId, token), times: times
                ) { bytes in
                    if isCancelled { throw CancellationError() }
                    board.moved(bytes, &job)
                }
                switch answer {
                case .taken(let digest, let mayGoOn):
                    board.stored(job, digest)
                    hasWorked = true
                    if !mayGoOn { return .usedUp }
                case .refused(let refusal):
                    refused(refusal, job)
                    return .usedUp
                }
            } catch let fault as SourceError {
                board.unread(job, fault)
                return .usedUp
            } catch is CancellationError {
                board.failed(job, cancelled)
                board.stop(cancelled)
                return .over
            } catch {
                let wasIdle = hasWorked && (error as? HTTPError) == .closed
                job.breaks += 1
                board.again(job)
                // A receiver may close a connection between two files.
                return wasIdle ? .usedUp : .broken(error)
            }
        }
        return .over
    }

    private var isCancelled: Bool { cancellation.isRequested || receiver.isRequested }

    /// Whose wish it was to end.
    private var cancelled: TransferError { receiver.isRequested ? .cancelledThere : .cancelledHere }

    private func refused(_ refusal: LocalSendRefusal, _ job: UploadBoard.Job) {
        var job = job
        switch refusal.status {
        case 422 where job.mismatches + 1 < Self.attempts:
            job.mismatches += 1
            board.again(job)
        case 409 where job.breaks > 0 && board.mayGoOn(for: times.retryFor):
            // The receiver has not noticed yet that the connection broke.
            board.again(job)
        default:
            board.failed(job, refusal.fault, isUnexpected: refusal.status == 403 && job.breaks + job.mismatches == 0)
        }
    }

    private static func fault(_ error: any Error) -> TransferError {
        TransferError(.interrupted, "the connection was lost: \(error)")
    }
}

extension TransferError {
    static let cancelledHere = TransferError(.cancelled, "cancelled", cause: .senderCancelled)
    static let cancelledThere = TransferError(.cancelled, "the other side cancelled", cause: .user)
}
