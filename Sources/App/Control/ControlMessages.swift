package import Sharing
import UniformTypes

// The protocol between the daemon and the command line, version 1. A command first sends the secret as a line
// (`ControlSecret`). From then on each message is one JSON document a line, and each request is answered by one line.
// After `watch`, one line follows for each event (`ControlEvent`). Unknown fields are ignored.

/// A request of the command line.
package enum ControlRequest: Codable, Sendable, Equatable {
    case status
    case offers
    /// The next `OfferSummary.itemsPerPage` items of an offer, from a place in it, from 0.
    case items(offer: Int, from: Int)
    /// All events from now on, for as long as the connection lasts. The connection takes no other request.
    case watch
    case answer(offer: Int, accept: Bool)
    /// Accept these items of an offer, from 0 (nil: all), and decline the others. The items go into this folder below
    /// the Inbox; nil: into the folder of the rules.
    case acceptItems(offer: Int, items: [Int]?, folder: String?)
    /// Decline an offer and everything else that its sender will offer.
    case block(offer: Int)
    /// The visibility or the contacts have been changed: look again.
    case lookAgain
    /// Read the handlers and the user's choices about them again; `done` means that they are in effect.
    case refreshHandlers
    /// Make the folder at the Inbox's path the Inbox.
    case adoptInbox
    /// Deliver an arrival again.
    case retry(arrival: Int64)
    /// An arrival is about to leave the Inbox: wait until no handler reads it, or with `now` not.
    case release(arrival: Int64, now: Bool)
    /// Write down how an arrival has left the Inbox, just now.
    case departed(arrival: Int64, how: Departure.How, toward: String)
    case pairing(PairingRequest)
    case outbox(OutboxRequest)
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

/// The progress of a job of the outbox that is being sent.
package struct JobProgress: Codable, Sendable, Equatable {
    package var job: Int
    /// Bytes of contents that were handed over, or were there already.
    package var bytes: UInt64
    /// Bytes of all accepted items; nil if unknown.
    package var total: UInt64?

    package init(job: Int, bytes: UInt64, total: UInt64?) {
        self.job = job
        self.bytes = bytes
        self.total = total
    }
}

/// The daemon's answer.
package enum ControlReply: Codable, Sendable, Equatable {
    case status(DaemonStatus)
    case offers([OfferSummary])
    case items([OfferSummary.Item])
    /// To `watch`: events follow.
    case watching
    /// The offer was answered.
    case done
    /// To `acceptItems` with a folder: the offer was answered. These of its items seem to be in the Inbox already,
    /// outside that folder, and are not stored again.
    case accepted(present: [PresentItem])
    /// The request could not be carried out: one line for the user.
    case refused(String)
    /// No offer, item, arrival or job has the number that was given: one line for the user.
    case unknown(String)
    /// To `release`: a handler still reads the item, for so many seconds.
    case beingRead(handler: String, seconds: Int)
    /// The caller may not command the receiver: one line with the reason. The connection ends.
    case denied(String)
    /// How a pairing stands.
    case pairing(PairingStanding)
    /// Of jobs of which something has moved.
    case progress([JobProgress])
}

/// An offered item that seems to be in the Inbox already.
package struct PresentItem: Codable, Sendable, Equatable {
    /// As it is offered.
    package var name: String
    /// The number of the arrival, and its name in the Inbox.
    package var arrival: Int64
    package var stored: String

    /// In one reply.
    package static let maximumItems = 100

    package init(name: String, arrival: Int64, stored: String) {
        (self.name, self.arrival, self.stored) = (name, arrival, stored)
    }
}

/// How a receiver can be reached by a dialect.
package struct DialectStatus: Codable, Sendable, Equatable {
    package var name: String
    /// The name of the dialect for people.
    package var title: String
    /// `published as NAME, port N`, or the reason why its peers do not find this machine.
    package var words: String

    package init(name: String, title: String, words: String) {
        (self.name, self.title, self.words) = (name, title, words)
    }
}

/// How a receiver is doing.
package struct DaemonStatus: Codable, Sendable, Equatable {
    package var name: String
    package var id: String
    package var port: Int
    package var inbox: String
    package var accept: String
    /// `avahi-daemon`, `embedded`, `off`, or the error.
    package var discovery: String
    /// The other dialects. Nil from a receiver that is older than the command line.
    package var dialects: [DialectStatus]?
    /// Bytes free for the Inbox; nil when it cannot be reached.
    package var freeRoom: UInt64?
    /// Why it cannot be reached; nil where it can.
    package var inboxFault: String?
    /// Why the journal cannot be written, so that nothing is accepted; nil if it can.
    package var journalFault: String?
    package var waitingOffers: Int
    package var activeTransfers: Int
    package var processID: Int
    package var hook: String?
    /// The means of the kernel to restrict handlers, or why it has none.
    package var sandbox: String?
    /// The peers that can see the receiver: `off`, `contacts`, `everyone`.
    package var visible: String?
    /// The visibility that the user has stored, if the one given at the receiver's start overrides it.
    package var visibleStored: String?
    /// Seconds until this visibility ends, rounded up, and the next visibility; nil for a permanent choice.
    package var visibleSeconds: Int64?
    package var visibleThen: String?
    /// Handlers that are in use.
    package var handlers: Int?
    /// Deliveries that wait for a handler, that are parked, and that failed.
    package var waitingDeliveries: Int?
    package var parkedDeliveries: Int?
    /// Interrupted items that are kept to be resumed, and their bytes.
    package var keptPartials: Int?
    package var keptBytes: UInt64?
    package var failedDeliveries: Int?
    /// Jobs of the outbox that wait, are being sent, and were given up.
    package var waitingJobs: Int?
    package var sendingJobs: Int?
    package var failedJobs: Int?
    /// Whether the configuration file has changed since the start. The receiver does not notice this. Nil if not.
    package var settingsChanged: Bool?
    /// One line for each file that is damaged or was set aside as damaged; nil if there is none.
    package var damage: [String]?

    package init(
        name: String,
        id: String,
        port: Int,
        inbox: String,
        accept: String,
        discovery: String,
        freeRoom: UInt64?,
        waitingOffers: Int,
        activeTransfers: Int,
        processID: Int,
        hook: String?
    ) {
        self.name = name
        self.id = id
        self.port = port
        self.inbox = inbox
        self.accept = accept
        self.discovery = discovery
        self.freeRoom = freeRoom
        self.waitingOffers = waitingOffers
        self.activeTransfers = activeTransfers
        self.processID = processID
        self.hook = hook
    }
}

/// An offer that waits for consent, as it is shown.
package struct OfferSummary: Codable, Sendable, Equatable {
    package struct Item: Codable, Sendable, Equatable {
        package var name: String
        package var kind: String
        package var type: String
        package var size: UInt64?
        /// See `OfferedItem.sizeHint`.
        package var sizeHint: UInt64?
        package var entries: UInt64?

        package init(_ item: OfferedItem) {
            name = item.name.text
            kind = item.kind.rawValue
            type = item.type.identifier
            size = item.size
            sizeHint = item.sizeHint
            entries = item.kind == .tree ? item.entries : nil
        }
    }

    /// The sender, as the user knows it. Nil from a receiver that is older than the command line.
    package struct Asker: Codable, Sendable, Equatable {
        /// One line: the contact's name, or `stranger`, the name that it gives itself, and its key. Not escaped.
        package var line: String
        /// The user's name for the peer; nil for a stranger.
        package var contact: String?
        /// One line, if a stranger gives itself the name of a contact. Not escaped.
        package var warning: String?

        package init(line: String, contact: String?, warning: String?) {
            self.line = line
            self.contact = contact
            self.warning = warning
        }
    }

    package var number: Int
    /// The short form of its key's id, and the whole of it; nil for a peer that proved none.
    package var peerID: String?
    package var peer: String?
    /// The dialect of the offer.
    package var via: String?
    /// The name that the peer gives itself.
    package var peerName: String
    package var asker: Asker?
    package var transfer: String
    package var note: String?
    /// The first `shownItems` of them.
    package var items: [Item]
    package var itemCount: Int
    /// Bytes of everything whose size is known.
    package var size: UInt64
    /// See `Offer.hintedSize`.
    package var hintedSize: UInt64?
    package var freeRoom: UInt64

    /// People cannot answer a question with thousands of lines.
    package static let shownItems = 100
    /// Items in one reply to `ControlRequest.items`.
    package static let itemsPerPage = 1_000

    package init(_ waiting: WaitingOffer, asker: Asker? = nil) {
        let offer = waiting.offer
        number = waiting.number
        peer = waiting.peer.provenText
        peerID = peer == nil ? nil : waiting.peer.short
        via = offer.dialect.name
        peerName = offer.senderName
        self.asker = asker
        transfer = offer.transfer.text
        note = offer.annotation["note"]
        items = offer.items.prefix(Self.shownItems).map(Item.init)
        itemCount = offer.items.count
        size = offer.knownSize
        hintedSize = offer.hintedSize == 0 ? nil : offer.hintedSize
        freeRoom = waiting.freeRoom
    }
}
