import Control
import Executors
import Handlers
import Inbox
import Journal
import Logging
import Sharing
import Synchronization

/// Changes how items of the Inbox are sealed.
struct ItemResealing: Sendable {
    private let journal: Journal
    private let inbox: FileInbox
    private let engine: DeliveryEngine
    private let blocking: BlockingExecutor
    private let logger: Logger
    private let turn = ResealingTurn()

    init(_ store: ReceiverStore, _ engine: DeliveryEngine, blocking: BlockingExecutor, logger: Logger) {
        (journal, inbox, self.engine) = (store.journal, store.inbox, engine)
        (self.blocking, self.logger) = (blocking, logger)
    }

    /// Changes how an item of the Inbox is sealed; no handler reads it meanwhile.
    func reply(_ number: ArrivalNumber, as word: String, now: Bool) async -> ControlReply {
        guard let protection = ProtectionClass(rawValue: word) else {
            return .refused("no protection is named \(word)")
        }
        // While it is locked, no handler has to be waited for.
        if let arrival = try? journal.arrival(number), arrival.protection != protection {
            do throws(LeavingError) { try inbox.checkKeys(for: arrival, as: protection) } catch {
                return .itemFault(code: error.code.rawValue, reason: error.message)
            }
        }
        switch await engine.release(number, within: now ? .zero : .seconds(5)) {
        case .free: break
        case .read(let handler, let time):
            return .beingRead(handler: handler, seconds: Int(time.components.seconds))
        }
        // A large item takes longer than handlers are kept away by one call.
        let renewal = Task {
            while true {
                try await Task.sleep(for: .seconds(10))
                _ = await engine.release(number, within: .zero)
            }
        }
        defer { renewal.cancel() }
        let reply = await Task(executorPreference: blocking) { turn.take { reseal(number, protection) } }.value
        // Its delivery may have to wait for the unlock now, or not any more.
        engine.lockChanged()
        return reply
    }

    /// Called for one item at a time.
    private func reseal(_ number: ArrivalNumber, _ protection: ProtectionClass) -> ControlReply {
        do {
            // First the changes that an earlier call could not end.
            try Self.finish(journal, inbox)
            guard let named = try journal.arrival(number), try journal.isThere(number),
                let arrival = try journal.arrival(named.holder)
            else {
                return .unknown("item \(number) is not in the Inbox")
            }
            guard arrival.protection != protection else { return .done }
            let (change, stored): (Resealing, StoredItem)
            do throws(LeavingError) {
                (change, stored) = try inbox.reseal(arrival, as: protection) { change throws(TransferError) in
                    try journal.intend(change)
                }
            } catch {
                // It may have been recorded. If this fails, the next call and the next start try it again.
                try? Self.finish(journal, inbox)
                throw error
            }
            try journal.settle(change, stored)
            logger.notice(
                "changed the protection of an item",
                metadata: ["item": "\(number)", "protection": "\(protection.rawValue)"])
            return .done
        } catch let error as LeavingError {
            return .itemFault(code: error.code.rawValue, reason: error.message)
        } catch {
            return .refused("\(error)")
        }
    }

    /// Ends the changes of items that were recorded and not settled.
    static func finish(_ journal: Journal, _ inbox: FileInbox) throws {
        for (change, arrival, old) in try journal.resealings() {
            try journal.settle(change, try inbox.finish(change, of: arrival, old: old))
        }
    }
}

/// One change of an item at a time: a new form is wholly there before the next one begins.
final class ResealingTurn: Sendable {
    private let turn = Mutex(())

    func take<Result: Sendable>(_ body: () -> Result) -> Result { turn.withLock { _ in body() } }
}
