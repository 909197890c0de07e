package import Lines
package import Sharing
import UniformTypes

// The protocol between the daemon and the command line, version 2. A command first sends the secret as a line
// (`ControlSecret`). From then on each message is one JSON document a line, and each request is answered by one line.
// After `watch`, one line follows for each event (`ControlEvent`). Unknown fields are ignored.

/// A request of the command line.
package enum ControlRequest: Codable, Sendable, Equatable {
    case status
    case offers
    /// The next `itemsPerPage` items of an offer, from a place in it, from 0.
    case items(offer: Int, from: Int)
    /// The preview of an item of an offer, from 0.
    case preview(offer: Int, item: Int)
    /// All events from now on, for as long as the connection lasts. The connection takes no other request.
    case watch
    case answer(offer: Int, accept: Bool)
    /// Accept these items of an offer, from 0 (nil: all), and decline the others. The items go into this folder below
    /// the Inbox; nil: into the folder of the rules.
    case acceptItems(offer: Int, items: [Int]?, folder: String?)
    /// Decline an offer and everything else that its sender will offer.
    case block(offer: Int)
    /// The transfers that move now, and those that ended within `MovingTransfers.remembered`.
    case transfers
    /// Another program of the user sends something: this is how far it is, or how it ended. Sent again within
    /// `MovingTransfers.remembered`, or it is forgotten.
    case moving(MovingLine)
    /// Cancel a transfer. The receiver declines one that arrives when its sender offers it again.
    case cancel(transfer: String)
    /// The visibility or the contacts have been changed: look again.
    case lookAgain
    /// Read the handlers and the user's choices about them again; `done` means that they are in effect.
    case refreshHandlers
    /// Read the settings again; the answer comes when they are in effect, or are not.
    case reloadSettings
    /// Make the folder at the Inbox's path the Inbox.
    case adoptInbox
    /// Deliver an arrival again.
    case retry(arrival: Int64)
    /// Call a handler, by its identifier, for an arrival: the user has chosen it. The reply comes with its answer.
    case open(arrival: Int64, handler: String, annotation: [String: String])
    /// An arrival is about to leave the Inbox: wait until no handler reads it, or with `now` not.
    case release(arrival: Int64, now: Bool)
    /// Write down how an arrival has left the Inbox, just now.
    case departed(arrival: Int64, how: Departure.How, toward: String)
    /// Items have other names or places in the Inbox: find them, and write that down.
    case followRenames
    case pairing(PairingRequest)
    case outbox(OutboxRequest)
    case protection(ProtectionRequest)
    case page(PageRequest)

    /// Items in one reply to `items`.
    package static let itemsPerPage = 1_000

    /// Whether it carries a private key.
    var isSecret: Bool {
        if case .protection(let request) = self { return request.isSecret }
        return false
    }
}

/// A request of the command line about the outbox. The contents of the outbox are on the disk.
package enum OutboxRequest: Codable, Sendable, Equatable {
    /// A job was added.
    case lookAgain
    case cancel(Int)
    case retry(Int)
    /// The progress of the jobs that are being sent.
    case progress
}
