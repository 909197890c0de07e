import HandlerCatalog
import Logging
import Protection

/// Locks and unlocks a receiver, one change after the other.
///
/// ```
///  unlocked ──lock──▶ locking ──calls have ended, or the time is up──▶ locked
///     ▲                                                                  │
///     └──────── handlers were told ──────── unlocking ◀──────unlock──────┘
/// ```
/// While locking, nothing new is opened, and the key is still in memory for those who read. A program that has not ended
/// then does not keep it there. While unlocking, items wait.
actor LockControl {
    /// How long a lock waits for the handlers, at most.
    static let grace: Duration = .seconds(10)
    /// The same when the machine goes to sleep: logind waits 5 seconds (`InhibitDelayMaxSec`).
    static let graceBeforeSleep: Duration = .seconds(3)

    /// The parts of a receiver that a lock touches.
    struct Parts: Sendable {
        /// Tells the handlers, and returns when they know.
        var tell: @Sendable (LaunchRules.Notice) async -> Void
        /// Returns when no handler reads an item that the lock closes.
        var quiet: @Sendable () async -> Void
        /// The key was wiped.
        var locked: @Sendable () -> Void
        /// Items that wait for the unlock.
        var waiting: @Sendable () -> Int
        /// Everything can be opened.
        var unlocked: @Sendable () -> Void
    }

    private struct Locking {
        var all: Bool
        let cause: LockCause
        var deadline: ContinuousClock.Instant
        var timer: Task<Void, Never>?
        let end: AsyncStream<Void>.Continuation
        var work: Task<Void, Never>?
    }

    private let vault: Vault
    private let parts: Parts
    private let logger: Logger
    private var locking: Locking?

    init(_ vault: Vault, _ parts: Parts, logger: Logger) {
        (self.vault, self.parts, self.logger) = (vault, parts, logger)
    }

    // MARK: Locking

    /// Wipes the key pair L, and with `all` U too. Returns when that is done.
    ///
    /// - Parameter grace: the longest wait for handlers; it shortens a lock that is under way.
    func lock(all: Bool = false, because cause: LockCause, within grace: Duration = grace) async {
        let deadline = ContinuousClock.now + grace
        if let locking {
            if all, !locking.all {
                self.locking?.all = true
                vault.hold(all: true)
            }
            if deadline < locking.deadline { setDeadline(deadline) }
            await locking.work?.value
            return
        }
        let standing = vault.standing
        guard standing.isUnlocked || (all && standing.wasUnlocked) else { return }
        let (ends, end) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        vault.hold(all: all, because: cause)
        locking = Locking(all: all, cause: cause, deadline: deadline, end: end)
        setDeadline(deadline)
        let work = Task { await carryOut(until: ends) }
        locking?.work = work
        await work.value
    }

    private func setDeadline(_ deadline: ContinuousClock.Instant) {
        locking?.timer?.cancel()
        locking?.deadline = deadline
        guard let end = locking?.end else { return }
        locking?.timer = Task {
            do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
            end.yield()
        }
    }

    private func carryOut(until ends: AsyncStream<Void>) async {
        guard let end = locking?.end else { return }
        let preparing = Task { [parts] in
            await parts.tell(.willBecomeUnavailable)
            await parts.quiet()
            end.yield()
        }
        for await _ in ends { break }
        // Not awaited: a program that does not leave takes its time.
        preparing.cancel()
        guard let locking else { return }
        locking.timer?.cancel()
        wipe(all: locking.all, because: locking.cause)
        self.locking = nil
    }

    private func wipe(all: Bool, because cause: LockCause) {
        let before = vault.standing
        vault.lock(all: all, because: cause)
        parts.locked()
        let after = vault.standing
        guard before.isUnlocked != after.isUnlocked || before.wasUnlocked != after.wasUnlocked else { return }
        var facts: Logger.Metadata = ["reason": "\(cause.rawValue)"]
        if all { facts["all"] = "true" }
        logger.notice("locked", metadata: facts)
    }

    /// Wipes all keys at once: the receiver ends.
    func stop() {
        guard vault.standing.isUnlocked || vault.standing.wasUnlocked else { return }
        wipe(all: true, because: .stopping)
    }

    // MARK: Unlocking

    /// Takes private keys into memory. Returns when the handlers know.
    ///
    /// - Returns: the number of items that have waited for it.
    /// - Throws: as `Vault.unlock`; `locked` if the task was cancelled.
    @discardableResult
    func unlock(_ identities: VaultIdentities, from origin: VaultMode? = nil) async throws(VaultError) -> Int {
        while let work = locking?.work { await work.value }
        guard !Task.isCancelled else { throw VaultError(.locked, "it was locked again") }
        let before = vault.standing
        try vault.unlock(identities, from: origin, isHeld: true)
        let after = vault.standing
        guard !before.isUnlocked || !before.wasUnlocked else { return 0 }
        logger.notice("unlocked", metadata: after.isUnlocked ? [:] : ["class": "untilFirstUnlock"])
        guard after.isUnlocked, !before.isUnlocked else { return 0 }
        let waiting = parts.waiting()
        await tellOfUnlock()
        // A lock has come in the meantime, and holds what it has found.
        guard locking == nil, vault.isUnlocked else { return waiting }
        vault.release()
        parts.unlocked()
        return waiting
    }

    private func tellOfUnlock() async {
        let (ends, end) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let telling = Task { [parts] in
            await parts.tell(.didBecomeAvailable)
            end.yield()
        }
        let timer = Task {
            do { try await Task.sleep(for: Self.grace) } catch { return }
            end.yield()
        }
        for await _ in ends { break }
        timer.cancel()
        telling.cancel()
    }
}
