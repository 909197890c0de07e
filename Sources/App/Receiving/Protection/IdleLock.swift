import Protection
import Settings
import Streams

/// Locks when no sealed item was opened for the time of `lockAfter`.
struct IdleLock: Sendable {
    private let vault: Vault
    private let settings: LiveSettings
    private let news: Broadcast<Void>

    /// - Parameter changes: says that the settings have changed.
    init(_ vault: Vault, settings: LiveSettings, changes: Broadcast<Void>) {
        (self.vault, self.settings, news) = (vault, settings, changes)
    }

    /// Until the task is cancelled.
    /// - Parameter lock: locks.
    func run(_ lock: @escaping @Sendable () async -> Void) async {
        let (pokes, poke) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (locks, changes) = (vault.changes.watch(), news.watch())
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in locks { poke.yield() } }
            group.addTask { for await _ in changes { poke.yield() } }
            group.addTask {
                var wait: Task<Void, Never>?
                defer { wait?.cancel() }
                poke.yield()
                for await _ in pokes {
                    wait?.cancel()
                    guard let time = settings.current.lockAfter, vault.standing.isUnlocked else { continue }
                    wait = Task { await self.wait(time, lock) }
                }
            }
        }
    }

    private func wait(_ time: Duration, _ lock: () async -> Void) async {
        while !Task.isCancelled {
            let left = time - vault.idleTime
            guard left > .zero else { return await lock() }
            try? await Task.sleep(for: left, clock: .continuous)
        }
    }
}
