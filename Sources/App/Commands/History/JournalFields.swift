import ContentCheck
import Digests
import Journal
import Lines
import Operations
import Sharing
import UniformTypes

/// An arrival for machines.
struct JournalFields: Encodable {
    struct Departure: Encodable {
        /// `taken`, `removed`, `handler`.
        var how: String
        var at: String
        /// The path it was taken to, or the handler.
        var toward: String?
    }

    struct Attempt: Encodable {
        var attempt: Int
        var handler: String
        var began: String
        /// Whether the user asked for this handler; absent for the usual delivery.
        var isAsked: Bool?
        var ended: String?
        var handlerAnswer: String?
        var exitCode: Int?
        var signal: Int?
        var reason: String?
        var output: String?
    }

    var arrival: Int64
    /// The arrival that stored the item, of one that only called for it again.
    var again: Int64?
    /// The name that was offered, and the one that it has in the Inbox.
    var name: String
    var stored: String
    var path: String
    var kind: String
    var type: String
    var size: UInt64
    /// Of a sealed item: the digest of its sealed form.
    var digest: String
    /// How it is sealed: `unlessOpen` and others; absent for an item that is not.
    var protection: String?
    var from: EventLine.Peer
    /// The dialect of the transfer: `waft` and others.
    var via: String
    var transfer: String
    var item: Int
    var arrived: String
    var annotation: [String: String]?
    /// The application that sent it, as the sender claims.
    var sourceApplication: String?
    var content: String?
    /// Names in the themes of desktops.
    var icon: String?
    var genericIcon: String?
    /// The absolute path of a picture of its handler.
    var iconFile: String?
    /// `none`, `waiting`, `yes`, `no`, `failed`, `parked`, `gone`.
    var delivery: String
    var due: String?
    /// How the item left the Inbox.
    var left: Departure?
    var attempts: [Attempt]?
}

extension JournalFields {
    init(_ entry: JournalEntry, _ people: Acquaintances) {
        let arrival = entry.arrival
        self.arrival = arrival.number.value
        again = arrival.again?.value
        name = arrival.item.name.text
        stored = arrival.stored.name.text
        path = arrival.stored.path
        kind = arrival.item.kind.rawValue
        type = arrival.type.identifier
        size = arrival.size
        digest = arrival.digest.description
        protection = arrival.protection.isSealed ? arrival.protection.rawValue : nil
        via = arrival.dialect.name
        from = people.person(arrival.peer, callingItself: arrival.senderName).fields
        transfer = arrival.transfer.text
        item = arrival.itemNumber
        arrived = ISOTime.text(entry.arrived)
        sourceApplication = SourceApplication.named(in: arrival.annotation)
        let rest = SourceApplication.removed(from: arrival.annotation)
        annotation = rest.isEmpty ? nil : rest
        content = arrival.content?.outcome.rawValue
        delivery = entry.state.rawValue
        due = (entry.waiting?.due).map(ISOTime.text)
        left = entry.departure.map { departure in
            Departure(
                how: departure.how.rawValue, at: ISOTime.text(departure.time),
                toward: departure.toward.isEmpty ? nil : departure.toward)
        }
        attempts = entry.attempts.isEmpty ? nil : entry.attempts.map(Attempt.init)
    }
}

extension JournalFields.Attempt {
    init(_ attempt: JournalAttempt) {
        self.init(
            attempt: attempt.number,
            handler: attempt.handler,
            began: ISOTime.text(attempt.began),
            isAsked: attempt.isAsked ? true : nil,
            ended: attempt.ended.map(ISOTime.text),
            handlerAnswer: attempt.outcome?.answer.rawValue,
            exitCode: attempt.outcome?.exitCode,
            signal: attempt.outcome?.signal,
            reason: attempt.outcome.flatMap { $0.reason.isEmpty ? nil : $0.reason },
            output: attempt.outcome.flatMap { $0.standardError.isEmpty ? nil : $0.standardError }
        )
    }
}
