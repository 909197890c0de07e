import Contacts
import Control
import Lines
import Pairing
import Receiving
import Sending
import Sharing
import Streams
import Synchronization

// A receiver takes the transfer: the running receiver of this home, or else one in this process that is visible to no peer.

extension Codes {
    /// How long the sender may take to begin, and to begin again after its connection was lost.
    private static let beginning: Duration = .seconds(15)
    private static let resuming: Duration = .seconds(75)

    /// Receives the transfer of the machine that shows a code.
    /// - Parameter see: called for each step, from any thread.
    /// - Throws: `WaftError`: `usage`, `peerNotFound`, `declined`, `unreachable`, `noAnswer`, `interrupted`.
    package func receive(
        _ typed: Typed, _ search: Search, _ see: @escaping @Sendable (Step) -> Void
    ) async throws(WaftError) {
        try check(typed, for: search)
        try await withReceiver { (isOwn) throws(WaftError) in
            let initiator = try initiator()
            try await taking(isOwn, see) { arrivals in
                do {
                    let meeting = try await initiator.receive(typed.code, search.search) { transfer, peer in
                        arrivals.expect(transfer)
                        let request = PairingRequest.permit(transfer: transfer.text, peer: peer.text)
                        switch try await waft.receiver.ask(.pairing(request)) {
                        case .listening(let port): return UInt16(clamping: port)
                        case .refused(let reason): throw WaftError(.unexpected, reason)
                        default: throw WaftError.noAnswer
                        }
                    }
                    self.see(meeting, search, see)
                } catch let failure as PairingStartError {
                    throw WaftError(code: failure)
                }
            }
        }
    }

    /// Shows a code, and receives the transfer of the machine that has typed it.
    /// - Throws: `WaftError`, as `receive` and `show`.
    package func receive(_ showing: Showing, _ see: @escaping @Sendable (Step) -> Void) async throws(WaftError) {
        try await withReceiver { (isOwn) throws(WaftError) in
            try await taking(isOwn, see) { arrivals in
                try await show(showing, .receive, see) { (guest) throws(WaftError) in
                    arrivals.expect(guest.transfer)
                }
            }
        }
    }

    /// Watches the receiver from before `begin` until the transfer that it expects is over.
    /// - Parameter isOwn: whether the receiver ends with this command.
    private func taking(
        _ isOwn: Bool, _ see: @escaping @Sendable (Step) -> Void,
        _ begin: @escaping @Sendable (ExpectedArrivals) async throws -> Void
    ) async throws(WaftError) {
        let arrivals = ExpectedArrivals()
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    try await waft.receiver.watch { event in
                        for step in arrivals.steps(of: event) { see(step) }
                    }
                    throw WaftError(.notRunning, "the receiver has ended")
                }
                group.addTask {
                    try await begin(arrivals)
                    try await arrivals.end(beginning: Self.beginning, resuming: Self.resuming)
                }
                try await group.next()
            }
        } catch {
            try await withdraw(arrivals, isOwn)
            if Task.isCancelled || error is CancellationError { throw .interrupted }
            throw (error as? WaftError) ?? WaftError(.unexpected, "\(error)")
        }
    }

    /// The command ends before the transfer: without it nothing begins any more.
    /// - Throws: `WaftError` if a transfer that has begun goes on in the running receiver.
    private func withdraw(_ arrivals: ExpectedArrivals, _ isOwn: Bool) async throws(WaftError) {
        guard let (transfer, hasBegun) = arrivals.expected else { return }
        // Another task, which is not cancelled, still reaches the receiver.
        let request = ControlRequest.pairing(.withdraw(transfer: transfer.text))
        let receiver = waft.receiver
        await Task { _ = try? await receiver.ask(request) }.value
        guard hasBegun, Task.isCancelled, !isOwn else { return }
        throw WaftError(
            .interrupted, "interrupted; the running receiver goes on with the transfer", hint: "waft transfers shows it"
        )
    }

    /// Runs `body` while a receiver of this home runs. It gets whether that ends with `body`.
    func withReceiver<Result: Sendable>(
        _ body: @escaping @Sendable (_ isOwn: Bool) async throws(WaftError) -> Result
    ) async throws(WaftError) -> Result {
        if try await waft.receiver.askIfRunning(.status) != nil { return try await body(false) }
        let receiver = waft.makeReceiver(visibility: .off, observe: { _ in })
        do {
            return try await withThrowingTaskGroup(of: Result?.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    try await receiver.receive()
                    return nil
                }
                group.addTask {
                    while try await waft.receiver.askIfRunning(.status) == nil {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                    return try await body(true)
                }
                guard let result = try await group.next(), let result else {
                    throw WaftError.interrupted
                }
                return result
            }
        } catch let failure as ReceiverError {
            throw WaftError(failure)
        } catch let error as WaftError {
            throw error
        } catch is CancellationError {
            throw WaftError.interrupted
        } catch {
            throw WaftError(.unexpected, "\(error)")
        }
    }
}

/// The transfer that a code lets in, as the receiver tells of it.
private final class ExpectedArrivals: Sendable {
    private struct State {
        var transfer: TransferID?
        /// Whether anything of it has come, and whether it was interrupted.
        var hasBegun = false
        var fault: ArrivedLine?
        var isOver = false
        let news = Broadcast<Void>(buffer: .bufferingNewest(1))
    }

    private let state = Mutex(State())

    func expect(_ transfer: TransferID) { state.withLock { $0.transfer = transfer } }

    /// The expected transfer, and whether it has begun and is not over.
    var expected: (TransferID, hasBegun: Bool)? {
        state.withLock { state in state.transfer.map { ($0, state.hasBegun && state.fault == nil && !state.isOver) } }
    }

    /// The steps of the expected transfer in an event of the receiver.
    func steps(of event: ControlEvent) -> [Codes.Step] {
        state.withLock { state in
            guard let transfer = state.transfer?.text else { return [] }
            let step: Codes.Step
            switch event {
            case .progress(let line) where line.transfer == transfer: step = .moved(line)
            case .arrival(let line) where line.transfer == transfer: step = .arrived(line)
            case .ended(let line) where line.transfer == transfer:
                step = .ended(line)
                // A sender that has taken it back does not come again.
                state.isOver = !line.isFailed || line.cause == .senderCancelled
                state.fault = line.isFailed || line.missing > 0 ? line : nil
                state.news.send(())
                return [step]
            default: return []
            }
            (state.hasBegun, state.fault) = (true, nil)
            state.news.send(())
            return [step]
        }
    }

    /// Waits until the transfer is over.
    /// - Throws: `WaftError` if it does not begin, or was interrupted and does not go on.
    func end(beginning: Duration, resuming: Duration) async throws {
        while true {
            let (isOver, fault, hasBegun, news) = state.withLock { state in
                (state.isOver, state.fault, state.hasBegun, state.news.watch())
            }
            if isOver {
                guard let fault else { return }
                throw Self.failure(fault)
            }
            let limit: Duration? = fault != nil ? resuming : hasBegun ? nil : beginning
            let timer = limit.map { limit in
                Task {
                    do { try await Task.sleep(for: limit) } catch { return false }
                    self.state.withLock { $0.news.send(()) }
                    return true
                }
            }
            for await _ in news { break }
            timer?.cancel()
            try Task.checkCancellation()
            guard await timer?.value == true,
                state.withLock({ !$0.isOver && $0.fault == fault && $0.hasBegun == hasBegun })
            else { continue }
            if let fault { throw Self.failure(fault) }
            throw WaftError(
                .noAnswer, "the sender does not begin",
                hint: "its terminal says why; a firewall here may close the port: waft doctor")
        }
    }

    private static func failure(_ end: ArrivedLine) -> WaftError {
        if end.isFailed {
            return WaftError(.unreachable, "the transfer broke off: \(end.reason ?? "the connection was lost")")
        }
        return WaftError(
            .contentChanged,
            "\(end.missing) of \(end.count) items did not come\(end.reason.map { ": \($0)" } ?? "; the sender says why")"
        )
    }
}
