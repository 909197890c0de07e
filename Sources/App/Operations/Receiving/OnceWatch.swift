import Receiving
import Sharing
import Synchronization

/// Waits for the end of the first transfer that stored something, its handlers included, and for its sender's question about
/// their answers.
final class OnceWatch: Sendable {
    private struct State {
        /// Items of the transfer that handlers have not answered for, by transfer.
        var pending: [TransferID: Set<Int>] = [:]
        /// Items with an answer that has come before the end of their transfer.
        var early: [TransferID: Set<Int>] = [:]
        var ended: Set<TransferID> = []
        /// Until then a sender may begin to ask for the answers.
        var askedUntil: ContinuousClock.Instant?
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    /// How long after its receipt a sender begins to ask. It has a receipt without the answers then.
    private static let asking: Duration = .seconds(1)

    private let rest: @Sendable (ContinuousClock.Instant) async -> Void
    private let state = Mutex(State())

    /// - Parameter rest: returns at a time.
    init(
        rest: @escaping @Sendable (ContinuousClock.Instant) async -> Void = {
            try? await Task.sleep(until: $0, clock: .continuous)
        }
    ) {
        self.rest = rest
    }

    func see(_ event: ReceiverEvent) {
        guard case .reception(let event) = event else { return }
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            switch event {
            case .ended(let id, _, let receipt, _):
                // The receipt may be older than an answer that has come meanwhile.
                let early = state.early.removeValue(forKey: id) ?? []
                let stored = receipt.items.count { item in
                    if case .stored = item.outcome { return true }
                    return false
                }
                guard stored > 0 else { return nil }
                state.ended.insert(id)
                if receipt.items.contains(where: { $0.handler.state == .pending && (!$0.isAlready || $0.isAgain) }) {
                    state.askedUntil = .now + Self.asking
                }
                state.pending[id, default: []].formUnion(
                    receipt.items.indices.filter { number in
                        let item = receipt.items[number]
                        return item.handler.state == .pending && (!item.isAlready || item.isAgain)
                            && !early.contains(number)
                    })
            case .opened(let arrival, _):
                if state.ended.contains(arrival.transfer) {
                    state.pending[arrival.transfer]?.remove(arrival.itemNumber)
                } else {
                    state.early[arrival.transfer, default: []].insert(arrival.itemNumber)
                }
            default:
                return nil
            }
            guard state.ended.contains(where: { state.pending[$0]?.isEmpty == true }) else { return nil }
            state.isOver = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    func wait() async {
        await waitForHandlers()
        if let end = state.withLock({ $0.askedUntil }), !Task.isCancelled { await rest(end) }
    }

    private func waitForHandlers() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isOver = state.withLock { state in
                    if state.isOver || Task.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }?.resume()
        }
    }
}
