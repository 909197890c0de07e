import Executors
import Foundation
import Handlers
import Logging
import Protection
import Settings
import Sharing
import Streams

/// Locks a running receiver when its idle time is up or the machine locks, and tells of each lock and unlock.
struct ReceiverLock: Sendable {
    let standing: LockStanding
    let locks: LockControl
    let engine: DeliveryEngine
    let copies: ClearCopies
    /// The settings have changed.
    let news: Broadcast<Void>
    let listeners: ReceiverListeners
    let blocking: BlockingExecutor
    let logger: Logger

    /// Until the task is cancelled.
    func run() async {
        let (vault, settings) = (standing.vault, standing.settings)
        await withDiscardingTaskGroup { group in
            let changes = vault.changes.watch()
            group.addTask {
                for await state in changes {
                    listeners.tell(.protection(standing.line(state)))
                    engine.lockChanged()
                }
            }
            group.addTask {
                await IdleLock(vault, settings: settings, changes: news).run { await locks.lock(because: .idle) }
            }
            group.addTask {
                await LockWatching(
                    vault, settings: settings, changes: news, desk: locks, appeared: listeners.waits.appeared,
                    logger: logger
                ).run()
            }
            group.addTask { await withTaskExecutorPreference(blocking) { await useCredential() } }
        }
        let wasOpen = vault.standing.wasUnlocked
        await locks.stop()
        if wasOpen { listeners.tell(.protection(standing.line)) }
        copies.end()
    }

    /// Opens the class until first unlock with the keys that the service manager passes.
    private func useCredential() async {
        guard let folder = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"], PathText.isAbsolute(folder),
            standing.vault.standing.isSetUp
        else { return }
        do throws(VaultError) {
            guard let identities = try VaultIdentities.credential(in: folder) else { return }
            try await locks.unlock(identities.only(.sinceFirstUnlock), from: .credential)
        } catch {
            logger.error(
                "the credential for protected items is not used", metadata: ["reason": "\(error.description)"])
        }
    }
}
