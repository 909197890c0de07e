import Control
import Handlers
import Inbox
import Journal
import Sharing

/// Answers the requests about the items of the Inbox.
struct ArrivalReplies: Sendable {
    let store: ReceiverStore
    let engine: DeliveryEngine
    let relay: EventRelay

    init(_ parts: ReceiverParts) {
        (store, engine, relay) = (parts.store, parts.engine, parts.plan.listeners.relay)
    }

    func adoptInbox() -> ControlReply {
        do {
            try store.inbox.adopt()
            return .done
        } catch {
            return .refused(error.description)
        }
    }

    func retry(_ number: Int64) async -> ControlReply {
        switch await engine.retry(ArrivalNumber(number)) {
        case .begun: .done
        case .unknown: .unknown("no item is numbered \(number)")
        case .left: .unknown("item \(number) has left the Inbox")
        case .underWay: .refused("a handler is already working on item \(number)")
        case .fault(let reason): .refused(reason)
        }
    }

    func open(_ number: Int64, in handler: String, _ annotation: [String: String]) async -> ControlReply {
        switch await engine.open(ArrivalNumber(number), in: handler, annotation: annotation) {
        case .answered(let outcome):
            .handlerAnswered(outcome.answer.rawValue, exitCode: outcome.exitCode, reason: outcome.reason)
        case .unknown: .unknown("no item is numbered \(number)")
        case .left: .unknown("item \(number) has left the Inbox")
        case .underWay: .refused("a handler is already working on item \(number)")
        case .locked: .locked("item \(number) is sealed, and Waft is locked")
        case .fault(let reason): .refused(reason)
        }
    }

    func release(_ number: Int64, now: Bool) async -> ControlReply {
        switch await engine.release(ArrivalNumber(number), within: now ? .zero : .seconds(5)) {
        case .free: .done
        case .read(let handler, let time): .beingRead(handler: handler, seconds: Int(time.components.seconds))
        }
    }

    func departed(_ number: Int64, _ how: Departure.How, toward: String) -> ControlReply {
        do {
            let departure = Departure(how, at: .now, toward: toward)
            for number in try store.journal.departed([ArrivalNumber(number)], departure) {
                if let arrival = try store.journal.arrival(number) { relay.left(arrival, departure) }
            }
            return .done
        } catch {
            return .refused(error.description)
        }
    }

    func followRenames() -> ControlReply {
        do throws(JournalError) { try store.followRenames() } catch { return .refused(error.description) }
        return .done
    }
}
