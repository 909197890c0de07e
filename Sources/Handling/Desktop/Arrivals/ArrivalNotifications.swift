package import Sharing
import Synchronization

/// Shows one notification for each transfer that has arrived, and few in a burst.
package final class ArrivalNotifications: Sendable {
    /// Minimum time between two notifications.
    private static let interval: Duration = .seconds(5)

    /// The notification for those that have no place on the desktop, for the notifier of `run`.
    package static let surplus = ArrivalNotice.surplus

    private struct State {
        var collector = ArrivalCollector()
        var throttle: ArrivalThrottle
        /// The result of `SessionLock.unlocked`; nil while it waits.
        var isUnlocked: Bool?

        var deadline: ContinuousClock.Instant? { [collector.deadline, throttle.deadline].compactMap(\.self).min() }
    }

    private let state: Mutex<State>
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation

    package convenience init() {
        self.init(interval: Self.interval)
    }

    init(interval: Duration) {
        state = Mutex(State(throttle: ArrivalThrottle(interval: interval)))
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Takes an event of the receiver, from any thread. Returns soon.
    package func see(_ event: Reception.Event) {
        switch event {
        case .offered, .judged, .began, .progressed: return
        case .stored, .opened, .ended: break
        }
        let now = ContinuousClock.now
        let isChanged = state.withLock { state in
            // A wait for handlers begins or ends, or a transfer waits for its notification.
            let deadline = state.collector.deadline
            if let group = state.collector.see(event, at: now) {
                state.throttle.add(group, at: now)
                return true
            }
            return deadline != state.collector.deadline
        }
        if isChanged { wake.yield() }
    }

    /// A transfer was accepted at this receiver's terminal, which shows its arrival.
    package func acceptedHere(_ transfer: TransferID, from peer: PeerID) {
        state.withLock { $0.collector.acceptedHere(transfer, from: peer) }
    }

    /// Shows arrivals until the task is cancelled. Can be called once.
    /// - Parameters:
    ///   - notifier: must be made with `surplus`.
    ///   - isSealed: whether Waft is locked, so that no names are shown; asked again after `lockChanged`.
    ///   - sender: introduces a peer with the name that it gives itself; must return soon.
    package func run(
        on notifier: DesktopNotifier, lock: SessionLock, opening: any ArrivalOpening,
        isSealed: @escaping @Sendable () -> Bool = { false },
        sender: @escaping @Sendable (PeerID, String) -> Introduction
    ) async {
        await withDiscardingTaskGroup { group in
            var board = ArrivalBoard(notifier)
            var timer: Task<Void, Never>?
            var watch: Task<Void, Never>?
            var isSessionLocked = false
            for await _ in wakes {
                while let notice = take() {
                    let request = await request(for: notice.group, opening, sender)
                    isSessionLocked = await lock.isLocked()
                    if isSessionLocked, watch == nil { watch = Task { await self.waitForUnlocking(lock) } }
                    var cover: NotificationRequest?
                    if isSessionLocked {
                        cover = ArrivalNotice.locked(notice.group)
                    } else if isSealed() {
                        cover = ArrivalNotice.locked(notice.group, isSealed: true)
                    }
                    guard let new = board.show(notice, request, cover: cover) else { continue }
                    group.addTask { await new.run(opening) { _ = notifier.show(ArrivalNotice.failure($0)) } }
                }
                if let isUnlocked = takeUnlocked() {
                    watch = nil
                    if isUnlocked { isSessionLocked = false }
                }
                if !isSessionLocked, !isSealed(), board.hidesNames {
                    // The session may have been locked after the last arrival: Waft is unlocked from elsewhere too.
                    isSessionLocked = await lock.isLocked()
                    if !isSessionLocked { board.unlock() }
                    if isSessionLocked, watch == nil { watch = Task { await self.waitForUnlocking(lock) } }
                }
                timer?.cancel()
                timer = state.withLock(\.deadline).map { deadline in Task { await self.wait(until: deadline) } }
            }
            timer?.cancel()
            watch?.cancel()
            group.cancelAll()
        }
    }

    /// Waft was locked or unlocked.
    package func lockChanged() { wake.yield() }

    private func wait(until deadline: ContinuousClock.Instant) async {
        do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
        wake.yield()
    }

    private func waitForUnlocking(_ lock: SessionLock) async {
        let isUnlocked = await lock.unlocked()
        state.withLock { $0.isUnlocked = isUnlocked }
        wake.yield()
    }

    private func take() -> ArrivalThrottle.Notice? {
        state.withLock { state in
            let now = ContinuousClock.now
            for group in state.collector.overdue(at: now) { state.throttle.add(group, at: now) }
            return state.throttle.take(at: now)
        }
    }

    private func takeUnlocked() -> Bool? { state.withLock { $0.isUnlocked.take() } }

    private func request(
        for group: ArrivalGroup, _ opening: any ArrivalOpening, _ sender: (PeerID, String) -> Introduction
    ) async -> NotificationRequest {
        guard let first = group.items.first else { return ArrivalNotice.surplus(group.transfers) }
        let canOpen = group.transfers == 1 && opening.canOpen(first)
        let canChoose = canOpen ? await opening.canChoose(for: first) : false
        return ArrivalNotice.request(
            for: group, from: sender(first.peer, first.senderName), canOpen: canOpen, canChoose: canChoose)
    }
}
