import Inbox
import Sharing

/// The names of all lines of `--json`: values of `event`. `Commands.docc/events.schema.json` describes each one.
package enum EventName: String, Encodable, CaseIterable, Sendable {
    // `waft send`
    case item, skipped, queued, offered, busy, resuming
    /// The dialect gives no receipts: the other side has said that it has everything.
    case sent

    // Both sides of a transfer
    case answered, progress, stored, opened, failed, done

    // `waft receive`, `waftd`, `waft offers`
    case ready, offer, altered, deferred
    case accepted, declined

    // `waft peers`
    case found, lost

    // `waft inbox`, `waft history`
    case entry, arrival, transfer
    case taken, removed, gone, retried, adopted
    case changed, missing, unreadable, absent, verified

    // `waft outbox`
    case job, jobCancelled, jobRetried, jobRemoved, jobsRemoved

    // `waft handlers`
    case handler, problem, handlerRemoved, `default`, handlerDecision, schemeDecision

    // `waft contacts`, `waft policy`, `waft visible`
    case contact, blockedStranger, forgotten, blocked, unblocked, me
    case rule, policyDecision, visibility

    // `waft pair`
    case open, peer, compare, paired

    // `waft status`, `waft type`
    case status, type

    /// The name for how an item has left the Inbox.
    init(_ how: Departure.How) {
        switch how {
        case .taken: self = .taken
        case .removed: self = .removed
        case .handler: self = .gone
        }
    }

    /// The name for the answer of a handler.
    init(_ answer: HandlerAnswer.State) {
        switch answer {
        case .yes: self = .opened
        case .later, .pending: self = .deferred
        case .no, .failed, .none: self = .failed
        }
    }

    /// The name for the result of a verification; nil for an item that is as it arrived.
    init?(_ state: ItemFinding.State) {
        switch state {
        case .ok: return nil
        case .changed: self = .changed
        case .missing: self = .missing
        case .unreadable: self = .unreadable
        }
    }
}
