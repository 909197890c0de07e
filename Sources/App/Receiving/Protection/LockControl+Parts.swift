import Handlers
import Inbox
import Protection
import Sharing

extension LockControl.Parts {
    /// - Parameter handlers: are told.
    init(
        _ store: ReceiverStore, _ standing: LockStanding, handlers: HandlerUpkeep, engine: DeliveryEngine,
        reception: Reception
    ) {
        let vault = store.copies.vault
        self.init(
            tell: { await handlers.tell($0) },
            quiet: { await store.copies.opened.quiet() },
            locked: {
                store.copies.lock()
                store.inbox.lockKeptKeys()
                engine.lockChanged()
                // A transfer of the class complete stops at its next chunk; one that stalls has none.
                // It does not outlive the receiver, which closes its journal when it goes.
                Task { [weak reception] in
                    try? await Task.sleep(for: .seconds(2))
                    if !vault.isUnlocked { reception?.interrupt(.complete) }
                }
            },
            waiting: { standing.waitingItems },
            unlocked: { engine.lockChanged() })
    }
}
