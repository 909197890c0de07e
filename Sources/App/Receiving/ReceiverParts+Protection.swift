import Age
import Control
import Foundation
import HandlerCatalog
import Handlers
import Inbox
import Journal
import Lines
import Logging
import Protection
import Secrets
import Settings
import Sharing
import Streams

extension ReceiverParts {
    /// How protected items stand.
    var lockLine: LockLine { line(vault.standing) }

    private func line(_ standing: VaultState) -> LockLine {
        var line = LockLine(
            protection: plan.settings.protection.rawValue, unlocked: standing.isUnlocked && !standing.isLocking,
            unlockedOnce: standing.wasUnlocked)
        (line.isSetUp, line.isDropBox) = (standing.isSetUp, standing.isDropBox)
        line.locking = standing.isLocking ? true : nil
        (line.protectionSince, line.waitingItems) = (LineTime(standing.since), itemsBehindLock)
        (line.keysFrom, line.reason) = (standing.mode?.rawValue, standing.cause?.rawValue)
        do throws(VaultError) { try vault.check() } catch { line.protectionFault = error.description }
        return line
    }

    /// Items that wait for the unlock.
    var itemsBehindLock: Int { Self.itemsBehindLock(journal, vault) }

    static func itemsBehindLock(_ journal: Journal, _ vault: Vault) -> Int {
        let waiting = (try? journal.waitingSealed()) ?? [:]
        return waiting.reduce(0) { $0 + (vault.canOpen($1.key) ? 0 : $1.value) }
    }

    /// Whether names and pictures of items are not shown: they are sealed, and Waft is locked.
    var hidesNames: Bool {
        let standing = vault.standing
        let isOpen = standing.isUnlocked && !standing.isLocking
        return standing.isSetUp && !standing.isDropBox && !isOpen && plan.settings.protection.isSealed
    }

    /// Answers a request from the control socket. Nothing of a request is logged.
    func reply(to request: ProtectionRequest) async -> ControlReply {
        do throws(VaultError) {
            switch request {
            case .status:
                break
            case .unlock(let lines):
                let waiting = try await locks.unlock(try VaultIdentities(lines: lines.map(\.bytes)))
                var line = lockLine
                line.waitingItems = max(line.waitingItems ?? 0, waiting)
                return .protection(line)
            case .lock(let all):
                await locks.lock(all: all, because: .command)
            case .fileKey(let header):
                return .fileKey(SecretText(encoding: try vault.fileKey(of: try Self.header(header))))
            case .reload:
                try vault.reload()
            case .reseal(let number, let protection, let now):
                return await reseal(ArrivalNumber(number), as: protection, now: now)
            }
            return .protection(lockLine)
        } catch {
            switch error.code {
            case .locked, .noIdentity: return .locked(error.description)
            case .foreign: return .itemFault(code: LeavingError.Code.mismatch.rawValue, reason: error.description)
            default: return .refused(error.description)
            }
        }
    }

    private static func header(_ text: String) throws(VaultError) -> AgeHeader {
        guard let bytes = Data(base64Encoded: text) else {
            throw VaultError(.damaged, "the header of the sealed file is not base64")
        }
        do throws(AgeError) {
            return try AgeHeader(parsing: Array(bytes))
        } catch {
            throw VaultError(.damaged, "the header of the sealed file cannot be used: \(error)")
        }
    }

    // MARK: Running

    /// Tells of each lock and unlock, and locks when the time is up, until the task is cancelled.
    func protect() async {
        await withDiscardingTaskGroup { group in
            let changes = vault.changes.watch()
            group.addTask {
                for await standing in changes {
                    plan.observe(.protection(line(standing)))
                    engine.lockChanged()
                }
            }
            group.addTask {
                await IdleLock(vault, settings: plan.live, changes: news).run { await locks.lock(because: .idle) }
            }
            group.addTask {
                await LockWatching(
                    vault, settings: plan.live, changes: news, desk: locks, appeared: { waits.send(()) },
                    logger: plan.logger
                ).run()
            }
            group.addTask { await withTaskExecutorPreference(blocking) { await useCredential() } }
        }
        let wasOpen = vault.standing.wasUnlocked
        await locks.stop()
        if wasOpen { plan.observe(.protection(lockLine)) }
        copies.end()
    }

    /// The parts that a lock touches.
    static func lockParts(
        _ vault: Vault, copies: ClearCopies, inbox: FileInbox, engine: DeliveryEngine, reception: Reception,
        waiting: @escaping @Sendable () -> Int, tell: @escaping @Sendable (LaunchRules.Notice) async -> Void
    ) -> LockControl.Parts {
        LockControl.Parts(
            tell: tell,
            quiet: { await copies.opened.quiet() },
            locked: {
                copies.lock()
                inbox.lockKeptKeys()
                engine.lockChanged()
                // A transfer of the class complete stops at its next chunk; one that stalls has none.
                // It does not outlive the receiver, which closes its journal when it goes.
                Task { [weak reception] in
                    try? await Task.sleep(for: .seconds(2))
                    if !vault.isUnlocked { reception?.interrupt(.complete) }
                }
            },
            waiting: waiting,
            unlocked: { engine.lockChanged() })
    }

    /// Opens the class until first unlock with the keys that the service manager passes.
    private func useCredential() async {
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], PathText.isAbsolute(folder),
            vault.standing.isSetUp
        else { return }
        do throws(VaultError) {
            guard let identities = try VaultIdentities.credential(in: folder) else { return }
            try await locks.unlock(identities.only(.sinceFirstUnlock), from: .credential)
        } catch {
            plan.logger.error(
                "the credential for protected items is not used", metadata: ["reason": "\(error.description)"])
        }
    }
}

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
