package import Sharing
import UniformTypes

/// An arrival as the journal has it.
package struct JournalLine: Line {
    package static let event = "arrival"

    package struct Departure: Encodable, Sendable {
        /// `taken`, `removed`, `handler`.
        package var how: String
        package var at: LineTime
        /// The path it was taken to, or the handler.
        package var toward: String?

        package init(_ departure: Sharing.Departure) {
            (how, at) = (departure.how.rawValue, LineTime(departure.time))
            toward = departure.toward.isEmpty ? nil : departure.toward
        }
    }

    package struct Attempt: Encodable, Sendable {
        package var attempt: Int
        package var handler: String
        package var began: LineTime
        /// Whether the user asked for this handler; absent for the usual delivery.
        package var isAsked: Bool?
        package var ended: LineTime?
        package var handlerAnswer: String?
        package var exitCode: Int?
        package var signal: Int?
        package var reason: String?
        package var output: String?
        /// Milliseconds; nil while it runs.
        @Unsaid package var duration: Int64? = nil

        package init(_ attempt: Int, handler: String, began: LineTime) {
            (self.attempt, self.handler, self.began) = (attempt, handler, began)
        }
    }

    package var arrival: Int64
    /// The arrival that stored the item, of one that only called for it again.
    package var again: Int64?
    /// The name that was offered, and the one that it has in the Inbox.
    package var name: String
    package var stored: String
    package var path: String
    package var kind: String
    package var type: String
    package var size: UInt64
    /// Of a sealed item: the digest of its sealed form.
    package var digest: String
    /// How it is sealed: `unlessOpen` and others; absent for an item that is not.
    package var protection: String?
    package var from: PersonFields
    /// The dialect of the transfer: `waft` and others.
    package var via: String
    package var transfer: String
    package var item: Int
    package var arrived: LineTime
    package var annotation: [String: String]?
    /// The application that sent it, as the sender claims.
    package var sourceApplication: String?
    package var content: String?
    /// Names in the themes of desktops.
    package var icon: String?
    package var genericIcon: String?
    /// The absolute path of a picture of its handler.
    package var iconFile: String?
    /// `none`, `waiting`, `yes`, `no`, `failed`, `parked`, `gone`.
    package var delivery: String
    package var due: LineTime?
    /// How the item left the Inbox.
    package var left: Departure?
    package var attempts: [Attempt]?
    @Unsaid package var itemsInOffer: Int
    /// Of the check of its content.
    @Unsaid package var explanation: String? = nil
    /// How often its handler has asked for more time.
    @Unsaid package var deferrals: Int = 0

    /// - Parameter delivery: as the property.
    package init(_ arrival: Arrival, from sender: PersonFields, arrived: WallTime, delivery: String) {
        (self.arrival, again, name) = (arrival.number.value, arrival.again?.value, arrival.item.name.text)
        (stored, path, kind) = (arrival.stored.name.text, arrival.stored.path, arrival.item.kind.rawValue)
        (type, size, digest) = (arrival.type.identifier, arrival.size, "\(arrival.digest)")
        protection = arrival.protection.isSealed ? arrival.protection.rawValue : nil
        (from, via, transfer) = (sender, arrival.dialect.name, arrival.transfer.text)
        (item, itemsInOffer) = (arrival.itemNumber, arrival.itemsInOffer)
        let rest = SourceApplication.removed(from: arrival.annotation)
        annotation = rest.isEmpty ? nil : rest
        sourceApplication = SourceApplication.named(in: arrival.annotation)
        (self.arrived, self.delivery) = (LineTime(arrived), delivery)
    }
}

/// A transfer that was sent from here.
package struct SentTransferLine: Line {
    package static let event = "transfer"

    package struct Item: Encodable, Sendable {
        package var name: String
        package var type: String
        package var size: UInt64?
        package var stored: String?
        package var digest: String?
        /// `stored`, `alreadyThere`, `sent` (no receipt), `notSent`, `failed`, `unread`, or the answer.
        package var state: String
        package var reason: String?
        package var handlerAnswer: String?

        package init(name: String, type: String, state: String) {
            (self.name, self.type, self.state) = (name, type, state)
        }
    }

    package var ended: LineTime
    /// Absent for a peer without a key and a name.
    package var peer: PersonFields?
    /// The dialect of the transfer.
    package var via: String
    package var transfer: String
    /// Items of the transfer, and how many of them are on the other side.
    package var count: Int
    package var storedCount: Int
    /// Bytes of contents that were sent, in all attempts.
    package var moved: UInt64
    /// The first items.
    package var items: [Item]

    package init(
        ended: LineTime, peer: PersonFields?, via: String, transfer: String, count: Int, storedCount: Int,
        moved: UInt64, items: [Item]
    ) {
        (self.ended, self.peer, self.via, self.transfer) = (ended, peer, via, transfer)
        (self.count, self.storedCount, self.moved, self.items) = (count, storedCount, moved, items)
    }
}
