import ContentCheck
import Endpoints
import HandlerCatalog
import Inbox
import Journal
import Logging
import Settings
import Sharing

/// The Inbox, its journal and its keys. Settles the unfinished work of an earlier run.
struct ReceiverStore: Sendable {
    let journal: Journal
    let inbox: FileInbox
    /// Opens protected items for handlers. Has the keys.
    let copies: ClearCopies
    /// The consents to transfers that have not come whole.
    let consents: ConsentMemory
    private let logger: Logger

    /// - Throws: an error with one readable line.
    init(_ plan: ReceiverPlan, catalog: CatalogWatch) throws {
        let (home, settings, logger) = (plan.home, plan.settings, plan.logger)
        self.logger = logger
        copies = ClearCopies(home, quota: { plan.settings.clearQuota })
        journal = try Journal.openingOrReplacing(
            folder: home.state, dialects: DialectTable(plan.kinds.map(\.dialect)),
            unreadable: { fault in
                logger.error("a row of the journal cannot be read", metadata: ["reason": "\(fault)"])
            },
            damaged: { logger.error("the journal was damaged", metadata: ["reason": "\($0)"]) })
        inbox = try FileInbox(
            path: home.inbox, reserve: settings.reserve, conflict: settings.conflict,
            checker: ContentChecker(types: catalog.current.registry), partials: settings.partials,
            memory: journal, keys: copies.keys)
        consents = ConsentMemory(inbox)
        try recover(logger)
        copies.sweep()
        consents.mend(by: journal)
    }

    // MARK: Renames

    /// Records the items that their user has renamed, or moved inside the Inbox.
    func followRenames() throws(JournalError) {
        try journal.moved(InboxRenames.find(try journal.placesThere(), inbox: inbox.path), at: .now)
    }

    /// - Returns: an arrival with its new name or place; nil if it has none.
    func findAgain(_ arrival: Arrival) -> Arrival? {
        do throws(JournalError) {
            try followRenames()
            return try journal.arrival(arrival.number).flatMap { $0.stored == arrival.stored ? nil : $0 }
        } catch {
            logger.error("a renamed item cannot be recorded", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    // MARK: The start

    /// Settles what an earlier process was about to move into the Inbox when it died.
    private func recover(_ logger: Logger) throws {
        do throws(TransferError) {
            _ = try inbox.freeRoom()
        } catch  where error == .anotherInbox {
            // Unsettled items can be found only in the known Inbox. They wait until the receiver starts with it.
            logger.error(
                "nothing is stored", metadata: ["reason": "\(error)", "inbox": "\(inbox.path)", "see": "waft status"])
            return
        } catch {
            // Senders get this error with each offer.
        }
        do { try ItemResealing.finish(journal, inbox) } catch {
            logger.error("the change of an item cannot be ended", metadata: ["reason": "\(error)"])
        }
        let unsettled = try journal.unsettled()
        guard !unsettled.isEmpty else { return }
        let folders = Set(unsettled.compactMap(\.folder))
        let found = try inbox.find(Set(unsettled.compactMap(\.identity)), in: folders)
        // The earlier process may have died before the names were on the disk, and settled items must be there.
        try inbox.syncNames(in: folders)
        let outcomes = unsettled.map { arrival in
            let stored = arrival.identity.flatMap { found[$0] }.map { $0.named(asSealed: arrival.isSealedFile) }
            // A number of a file that has gone is given to another in time.
            return (number: arrival.number, stored: stored?.name.isNumbered(arrival.name) == true ? stored : nil)
        }
        try journal.settle(outcomes)
        logger.notice(
            "finished the items that an earlier run was storing",
            metadata: ["found": "\(outcomes.count { $0.stored != nil })", "of": "\(outcomes.count)"])
    }
}
