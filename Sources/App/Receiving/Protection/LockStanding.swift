import Journal
import Lines
import Protection
import Settings
import Sharing
import Streams

/// How the protected items of a receiver stand.
struct LockStanding: Sendable {
    let vault: Vault
    let journal: Journal
    let settings: LiveSettings

    var line: LockLine { line(vault.standing) }

    func line(_ standing: VaultState) -> LockLine {
        var line = LockLine(
            protection: settings.current.protection.rawValue, unlocked: standing.isUnlocked && !standing.isLocking,
            unlockedOnce: standing.wasUnlocked)
        (line.isSetUp, line.isDropBox) = (standing.isSetUp, standing.isDropBox)
        line.locking = standing.isLocking ? true : nil
        (line.protectionSince, line.waitingItems) = (LineTime(standing.since), waitingItems)
        (line.keysFrom, line.reason) = (standing.mode?.rawValue, standing.cause?.rawValue)
        do throws(VaultError) { try vault.check() } catch { line.protectionFault = error.description }
        return line
    }

    /// A word for each lock and unlock, until the watch is dropped.
    func changes() -> AsyncStream<VaultState> { vault.changes.watch() }

    /// Whether an unlock here would open items.
    var isLocked: Bool {
        let standing = vault.standing
        return standing.isSetUp && !standing.isDropBox && !standing.isUnlocked
    }

    /// Uses keys that were made since the start. A fault keeps those that are in use, and `waft status` shows it.
    func lookForKeys() { if !vault.standing.isSetUp { try? vault.reload() } }

    /// Items that wait for the unlock.
    var waitingItems: Int {
        let waiting = (try? journal.waitingSealed()) ?? [:]
        return waiting.reduce(0) { $0 + (vault.canOpen($1.key) ? 0 : $1.value) }
    }

    /// Whether names and pictures of items are not shown: they are sealed, and Waft is locked.
    var hidesNames: Bool {
        let standing = vault.standing
        let isOpen = standing.isUnlocked && !standing.isLocking
        return standing.isSetUp && !standing.isDropBox && !isOpen && settings.current.protection.isSealed
    }
}

extension LockStanding: StatusGiving {
    func fill(_ status: inout StatusLine) {
        let lock = line
        (status.protection, status.unlocked, status.unlockedOnce) = (lock.protection, lock.unlocked, lock.unlockedOnce)
        (status.locking, status.protectionSince) = (lock.locking, lock.protectionSince)
        (status.waitingItems, status.protectionFault) = (lock.waitingItems, lock.protectionFault)
        (status.isProtectionSetUp, status.isDropBox) = (lock.isSetUp, lock.isDropBox)
    }
}
