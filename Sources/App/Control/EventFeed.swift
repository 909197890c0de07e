package import Lines
import NIOConcurrencyHelpers
import NIOCore

/// Hands events to all watchers.
///
/// It waits for no watcher: unread lines are kept for a watcher up to a limit, and a watcher that exceeds it is
/// dropped. Lines are encoded once and shared, so that many watchers need no more memory than one.
package final class EventFeed: Sendable {
    private struct Watcher {
        var lines: AsyncStream<ByteBuffer>.Continuation
        var drop: @Sendable () -> Void
        /// Bytes that have not been written, and how many may be.
        var backlog = 0
        var limit: Int
    }

    private struct State {
        var next = 0
        var watchers: [Int: Watcher] = [:]
        var ready: ByteBuffer?
        var visibility: ByteBuffer?
        /// By number.
        var waiting: [Int: ByteBuffer] = [:]
    }

    private let backlogBytes: Int
    private let maximumWatchers: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - backlogBytes: bytes that are kept for one watcher, beyond those with which it begins.
    ///   - maximumWatchers: fewer than `ControlServer` has seats, so that others can always be served.
    package init(backlogBytes: Int = 8 << 20, maximumWatchers: Int = 16) {
        self.backlogBytes = backlogBytes
        self.maximumWatchers = maximumWatchers
    }

    /// From any thread; in the order in which calls end, the same for every watcher.
    package func send(_ event: ControlEvent) {
        // Events about the current state are kept for later watchers; other events are useless without a watcher.
        switch event {
        case .ready, .visibility, .offer: break
        case .answered(let answer) where answer.offer != nil: break
        case .answered, .progress, .arrival, .ended, .settings, .contacts, .protection:
            guard isWatched else { return }
        }
        guard let line = try? ControlCoding.line(event) else { return }
        let dropped: [Watcher] = state.withLockedValue { state in
            switch event {
            case .ready: state.ready = line
            case .visibility: state.visibility = line
            case .offer(let offer): if let number = offer.offer { state.waiting[number] = line }
            case .answered(let answer): if let number = answer.offer { state.waiting[number] = nil }
            case .progress, .arrival, .ended, .settings, .contacts, .protection: break
            }
            var dropped: [Watcher] = []
            for number in state.watchers.keys {
                guard var watcher = state.watchers[number] else { continue }
                watcher.backlog += line.readableBytes
                if watcher.backlog > watcher.limit {
                    state.watchers[number] = nil
                    dropped.append(watcher)
                } else {
                    state.watchers[number] = watcher
                    watcher.lines.yield(line)
                }
            }
            return dropped
        }
        for watcher in dropped {
            watcher.lines.finish()
            watcher.drop()
        }
    }

    /// The receiver cannot be reached any more; another `ready` comes when it can.
    package func becameUnreachable() {
        state.withLockedValue { $0.ready = nil }
    }

    /// How many watch just now.
    package var watchers: Int { state.withLockedValue { $0.watchers.count } }

    /// Whether any client is watching.
    package var isWatched: Bool { watchers > 0 }

    /// Bytes that have not been written, for all watchers.
    var backlog: Int { state.withLockedValue { $0.watchers.values.reduce(0) { $0 + $1.backlog } } }

    /// - Parameter drop: called at most once, from any thread, when the watcher has read too little.
    /// - Returns: nil when too many watch already.
    func watch(drop: @escaping @Sendable () -> Void) -> Watching? {
        let (lines, feed) = AsyncStream<ByteBuffer>.makeStream()
        let number: Int? = state.withLockedValue { state in
            guard state.watchers.count < maximumWatchers else { return nil }
            let waiting = state.waiting.sorted { $0.key < $1.key }.map(\.value)
            var watcher = Watcher(lines: feed, drop: drop, limit: backlogBytes)
            for line in [state.ready, state.visibility].compactMap(\.self) + waiting {
                watcher.backlog += line.readableBytes
                watcher.lines.yield(line)
            }
            watcher.limit += watcher.backlog
            state.next += 1
            state.watchers[state.next] = watcher
            return state.next
        }
        return number.map { Watching(lines: lines, number: $0, feed: self) }
    }

    fileprivate func written(_ line: ByteBuffer, _ number: Int) {
        state.withLockedValue { $0.watchers[number]?.backlog -= line.readableBytes }
    }

    fileprivate func leave(_ number: Int) {
        let watcher = state.withLockedValue { $0.watchers.removeValue(forKey: number) }
        watcher?.lines.finish()
    }
}

/// One watcher's share of a feed.
struct Watching: Sendable {
    /// Lines to be written; ends when the watcher is dropped or leaves.
    let lines: AsyncStream<ByteBuffer>
    fileprivate let number: Int
    fileprivate let feed: EventFeed

    /// A line is on its way, and takes no more room here.
    func written(_ line: ByteBuffer) { feed.written(line, number) }

    /// Must be called once it is over.
    func leave() { feed.leave(number) }
}
