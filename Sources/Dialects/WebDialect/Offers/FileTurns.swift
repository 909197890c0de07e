import Synchronization

/// Lets one request at a time write files of an offer. A file that has begun keeps its turn between its pieces, for a while.
final class FileTurns: Sendable {
    enum Wish: Equatable, Sendable {
        case file(Int)
        /// To close the offer.
        case end
    }

    private struct State {
        var isTaken = false
        /// The file that has begun and has not ended.
        var open: Int?
        var freeSince = ContinuousClock.now
        var waiting: [(wish: Wish, turn: CheckedContinuation<Void, Never>)] = []
    }

    /// How long a file that has begun keeps others waiting while nothing of it comes.
    private let patience: Duration
    private let state = Mutex(State())

    init(patience: Duration) { self.patience = patience }

    /// Waits for a turn. A cancelled task waits all the same.
    /// - Returns: the file that has begun and not ended; another one than is wished has lost its turn.
    func take(_ wish: Wish) async -> Int? {
        await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
            let isFree = state.withLock { state in
                if !state.isTaken, fits(wish, state) {
                    state.isTaken = true
                    return true
                }
                state.waiting.append((wish, turn))
                if !state.isTaken { wakeLater() }
                return false
            }
            if isFree { turn.resume() }
        }
        return state.withLock { $0.open }
    }

    /// Ends a turn.
    /// - Parameter open: the file that has begun and not ended.
    func give(open: Int?) {
        state.withLock { state in
            state.isTaken = false
            state.open = open
            state.freeSince = .now
        }
        wake()
        if state.withLock({ !$0.isTaken && !$0.waiting.isEmpty }) { wakeLater() }
    }

    private func fits(_ wish: Wish, _ state: State) -> Bool {
        guard let open = state.open, wish != .end, wish != .file(open) else { return true }
        return ContinuousClock.now - state.freeSince >= patience
    }

    private func wake() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.isTaken, let index = state.waiting.firstIndex(where: { fits($0.wish, state) }) else {
                return nil
            }
            state.isTaken = true
            return state.waiting.remove(at: index).turn
        }
        next?.resume()
    }

    private func wakeLater() {
        Task { [patience, weak self] in
            try? await Task.sleep(for: patience + .milliseconds(1))
            self?.wake()
        }
    }
}
