import Digests
package import HTTPChannel
import NIOCore
package import Sharing

/// One sending: the question, the files, and the end of the session.
package struct LocalSendSending: Sendable {
    package enum Outcome: Sendable {
        case ended(SendResult, moved: UInt64)
        /// The other side did not answer the question as such.
        case refused(LocalSendRefusal)
    }

    private let plan: LocalSendPlan
    private let question: ByteBuffer
    private let pin: String?
    private let times: LocalSendTimes
    private let cancellation: Cancellation
    private let receiver: ReceiverCancellation
    private let connect: @Sendable ((HTTPClient) async -> Void) async throws -> Void

    /// - Parameters:
    ///   - device: this side.
    ///   - pin: of the receiver; nil for none.
    ///   - cancellation: a request ends the session on the other side too.
    ///   - receiver: a request means that the other side has ended the session. The caller cancels the task then, and the
    ///     outcome says so.
    ///   - connect: opens a connection to the receiver, calls its argument with it, and closes it.
    /// - Throws: `TransferError` if the question is too long for one message.
    package init(
        _ plan: LocalSendPlan, from device: LocalSendDevice, pin: String?, times: LocalSendTimes,
        cancellation: Cancellation, receiver: ReceiverCancellation = ReceiverCancellation(),
        connect: @escaping @Sendable ((HTTPClient) async -> Void) async throws -> Void
    ) throws {
        question = try plan.question(from: device)
        (self.plan, self.pin, self.times) = (plan, pin, times)
        (self.cancellation, self.receiver, self.connect) = (cancellation, receiver, connect)
    }

    /// Asks and sends. Can be called again after a refusal.
    ///
    /// - Parameters:
    ///   - answered: called with the other side's answer before anything is sent.
    ///   - progressed: called with the bytes that were handed over, never less than before, and with those sent in all
    ///     attempts. Called by one thread at a time.
    /// - Returns: an outcome also if the connection was lost after the answer.
    /// - Throws: `HTTPError` for a question without an answer, errors of `connect`, `CancellationError`.
    package func run(
        answered: (Verdict) -> Void, progressed: @escaping @Sendable (_ done: UInt64, _ moved: UInt64) -> Void
    ) async throws -> Outcome {
        var answer: Result<LocalSendAnswer, any Error>?
        var outcome: Outcome?
        var openSession: String?
        do {
            try await connect { http in
                do {
                    answer = .success(try await LocalSendClient(http).ask(question, pin: pin, timeout: times.answer))
                } catch {
                    answer = .failure(error)
                }
                guard case .success(.accepted(let session)) = answer else { return }
                receiver.begin(session.sessionId)
                let wishes = Wishes(plan, session)
                answered(wishes.verdict)
                guard wishes.verdict.acceptsAnything else {
                    openSession = session.files.isEmpty ? nil : session.sessionId
                    outcome = .ended(SendResult(wishes.verdict), moved: 0)
                    return
                }
                let board = UploadBoard(wishes.files, progressed: progressed)
                await LocalSendUploads(
                    plan: plan, session: session, times: times, cancellation: cancellation, receiver: receiver,
                    board: board,
                    connect: connect
                ).run(http, files: wishes.files.count)
                let result = wishes.result(board)
                openSession = result.isWhole ? nil : session.sessionId
                outcome = .ended(result.items, moved: board.results.moved)
            }
        } catch {
            // When there was an answer, an error of the closing changes nothing.
            answer = answer ?? .failure(error)
        }
        return try await end(answer ?? .failure(HTTPError.closed), outcome, openSession, answered: answered)
    }

    private func end(
        _ answer: Result<LocalSendAnswer, any Error>, _ outcome: Outcome?, _ openSession: String?,
        answered: (Verdict) -> Void
    ) async throws -> Outcome {
        switch answer {
        case .success(.accepted):
            if let openSession, !receiver.isRequested {
                await takeLeave(openSession)
                if cancellation.isRequested { throw CancellationError() }
                try Task.checkCancellation()
            }
            guard let outcome else { throw HTTPError.closed }
            return outcome
        case .success(.nothingToSend):
            let verdict =
                plan.isMessage ? ItemVerdict.accepted : ItemVerdict(.declined, reason: "nothing of it is wanted")
            let all = Verdict(all: verdict, count: plan.offer.items.count)
            answered(all)
            return .ended(plan.isMessage ? SendResult(items: [plan.messageEnd]) : SendResult(all), moved: 0)
        case .success(.refused(let refusal)):
            guard let verdict = refusal.verdict else { return .refused(refusal) }
            let all = Verdict(all: verdict, count: plan.offer.items.count)
            answered(all)
            return .ended(SendResult(all), moved: 0)
        case .failure(let broken):
            // A cancelled task may see the end of its connection first.
            let error = Task.isCancelled ? CancellationError() : broken
            // Some receivers do not notice that the connection of the question is closed.
            if error is CancellationError || error as? HTTPError == .silence { await takeLeave(nil) }
            throw error
        }
    }

    /// Tells the receiver that nothing more comes: it may serve nobody else until then.
    private func takeLeave(_ session: String?) async {
        let (connect, limit) = (connect, LocalSendLimits.farewell)
        // Also when this task is cancelled.
        await Task.detached {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    try? await connect { http in try? await LocalSendClient(http).cancel(session, timeout: limit) }
                }
                group.addTask { try? await Task.sleep(for: limit) }
                await group.next()
                group.cancelAll()
            }
        }.value
    }
}

extension LocalSendPlan {
    /// The end of a message that was taken.
    fileprivate var messageEnd: SendResult.Item {
        let text = files[0].contents ?? []
        return .acknowledged(
            ItemReceipt(
                .stored(
                    name: sources[0].offered.name.text, size: UInt64(text.count), digest: .of(.xxh3_128, text))),
            sent: nil)
    }
}
