import Desktop
import Logging
import Protection
import Secrets
import Settings
import Streams
import Synchronization

/// Locks when the machine is locked, sleeps or is left, and unlocks from the keyring when a person is there again.
///
/// It runs only while there are keys to wipe. The signal `Unlock` of logind unlocks nothing.
struct LockWatching: Sendable {
    private let vault: Vault
    private let settings: LiveSettings
    private let changes: Broadcast<Void>
    private let desk: LockControl
    private let keyring: any IdentityKeeper
    private let sessionLock: SessionLock
    private let appeared: @Sendable () -> Void
    private let logger: Logger

    /// - Parameters:
    ///   - changes: says that the settings have changed.
    ///   - keyring: asks nobody.
    ///   - appeared: called when a person is at the machine.
    init(
        _ vault: Vault, settings: LiveSettings, changes: Broadcast<Void>, desk: LockControl,
        keyring: any IdentityKeeper = KeyringKeeper(.silent), sessionLock: SessionLock = SessionLock(),
        appeared: @escaping @Sendable () -> Void, logger: Logger
    ) {
        (self.vault, self.settings, self.changes, self.desk) = (vault, settings, changes, desk)
        (self.keyring, self.sessionLock, self.appeared, self.logger) = (keyring, sessionLock, appeared, logger)
    }

    /// Whether the screen saver counts; nil while there is nothing to lock.
    private var wanted: Bool? {
        let standing = vault.standing
        return standing.isSetUp && !standing.isDropBox ? settings.current.locksOnScreenSaver : nil
    }

    /// Until the task is cancelled.
    func run() async {
        let (pokes, poke) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (standings, news) = (vault.changes.watch(), changes.watch())
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in standings { poke.yield() } }
            group.addTask { for await _ in news { poke.yield() } }
            group.addTask {
                var running: (isSaver: Bool, task: Task<Void, Never>)?
                var isFirst = true
                poke.yield()
                for await _ in pokes {
                    let wanted = wanted
                    guard wanted != running?.isSaver else { continue }
                    running?.task.cancel()
                    await running?.task.value
                    running = wanted.map { isSaver in
                        (isSaver, Task { [isFirst] in await watch(isSaver: isSaver, isStart: isFirst) })
                    }
                    isFirst = isFirst && running == nil
                }
                running?.task.cancel()
                await running?.task.value
            }
        }
    }

    private func watch(isSaver: Bool, isStart: Bool) async {
        let watch = LockWatch(lockOnScreenSaver: isSaver, logger: logger)
        let standings = vault.changes.watch()
        await withDiscardingTaskGroup { group in
            group.addTask {
                await watch.delaySleep(vault.isUnlocked)
                for await standing in standings { await watch.delaySleep(standing.isUnlocked) }
            }
            let lookingUp = LookingUp()
            if isStart { lookingUp.begin { if await !sessionLock.isLocked() { await useKeyring() } } }
            await watch.run { await take($0, lookingUp) }
            lookingUp.cancel()
            group.cancelAll()
        }
    }

    private func take(_ event: LockEvent, _ lookingUp: LookingUp) async {
        switch event {
        case .locked(.sleep):
            lookingUp.cancel()
            await desk.lock(because: .sleep, within: LockControl.graceBeforeSleep)
        case .locked(let reason):
            lookingUp.cancel()
            // Not awaited: the machine may go to sleep in the meantime.
            Task { await desk.lock(because: LockCause(reason)) }
        case .lost(let loss):
            lookingUp.cancel()
            logger.warning(
                "the lock of the screen can no longer be watched: Waft locks now",
                metadata: ["reason": "\(loss.rawValue)"])
            Task { await desk.lock(because: loss == .bus ? .bus : .logind) }
        case .back:
            logger.notice("the lock of the screen is watched again")
        case .unlockedHint:
            lookingUp.begin {
                // A lock that a person has asked for lasts until the person unlocks.
                if vault.standing.cause != .command { await useKeyring() }
                appeared()
            }
        }
    }

    /// Unlocks with the keys that the keyring gives without a question.
    private func useKeyring() async {
        let standing = vault.standing
        // Within a lock too: the unlock waits for its end.
        guard standing.mode == .keyring, !standing.isUnlocked || standing.isLocking else { return }
        do {
            guard let text = try await keyring.fetch() else {
                return logger.info("the keyring does not give the private keys", metadata: ["reason": "it is locked"])
            }
            guard !Task.isCancelled else { return }
            try await desk.unlock(try VaultIdentities(parsing: text))
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("the keyring does not give the private keys", metadata: ["reason": "\(error)"])
        }
    }
}

/// The last look into the keyring; a lock ends it.
private final class LookingUp: Sendable {
    private let task = Mutex<Task<Void, Never>?>(nil)

    func begin(_ work: @escaping @Sendable () async -> Void) {
        put(Task { await work() })
    }

    func cancel() { put(nil) }

    private func put(_ new: Task<Void, Never>?) {
        task.withLock { task in
            task?.cancel()
            task = new
        }
    }
}

extension LockCause {
    init(_ reason: LockReason) {
        self =
            switch reason {
            case .screen: .screen
            case .request: .request
            case .sleep: .sleep
            case .nobody: .nobody
            case .screenSaver: .screenSaver
            }
    }
}
