import Synchronization

/// The sendings of windows: each item goes from the browser through to the peer, and is stored nowhere.
final class BrowserSendings: Sendable {
    /// Sendings at the same time.
    static let maximum = 32

    private let host: DeskServer.Host
    private let state = Mutex(State())

    private struct State {
        /// In the order in which they were asked for, and whether a window follows them.
        var sendings: [(sending: BrowserSending, isFollowed: Bool)] = []

        func place(of name: String) -> Int? { sendings.firstIndex { $0.sending.name == name } }
    }

    init(_ host: DeskServer.Host) { self.host = host }

    subscript(name: String) -> BrowserSending? {
        state.withLock { state in state.place(of: name).map { state.sendings[$0].sending } }
    }

    /// - Returns: nil if there are too many. The oldest one that no window follows makes room.
    func begin(_ wanted: BrowserSending.Wanted) -> BrowserSending? {
        let sending = BrowserSending(wanted, host)
        return state.withLock { state in
            if state.sendings.count >= Self.maximum {
                guard let place = state.sendings.firstIndex(where: { !$0.isFollowed }) else { return nil }
                state.sendings.remove(at: place)
            }
            state.sendings.append((sending, false))
            return sending
        }
    }

    /// - Returns: nil if there is no such sending, or a window follows it already: its items are sent once.
    func follow(_ name: String) -> BrowserSending? {
        state.withLock { state in
            guard let place = state.place(of: name), !state.sendings[place].isFollowed else { return nil }
            state.sendings[place].isFollowed = true
            return state.sendings[place].sending
        }
    }

    /// Waits until all have taken leave of their peers, or the time is up, whether or not the task is cancelled.
    func leave(within time: Duration) async {
        await Task.detached { [self] in
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end, state.withLock({ $0.sendings.contains(where: \.isFollowed) }) {
                try? await Task.sleep(for: .milliseconds(5))
            }
        }.value
    }

    func end(_ sending: BrowserSending) {
        state.withLock { state in state.sendings.removeAll { $0.sending === sending } }
    }
}
