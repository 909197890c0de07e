import Sharing

/// The state of an offer as the page reads it.
struct OfferReport: Encodable, Sendable {
    enum Phase: String, Encodable, Sendable {
        /// The host has not answered yet.
        case waiting
        /// Files can come.
        case answered
        /// All that was accepted is stored or has failed, or nothing was accepted.
        case done
        case expired
        /// By the guest.
        case cancelled
        /// By the host, or a time is over.
        case gone
    }

    struct Item: Encodable, Sendable {
        var name: String
        var kind: String
        var answer: String?
        var reason = ""
        /// The name in the Inbox.
        var stored: String?
        var failed: String?

        private enum Key: CodingKey { case name, kind, answer, reason, stored, failed }

        /// Keys without a value are written as null.
        func encode(to encoder: any Encoder) throws {
            var keys = encoder.container(keyedBy: Key.self)
            try keys.encode(name, forKey: .name)
            try keys.encode(kind, forKey: .kind)
            try keys.encode(answer, forKey: .answer)
            try keys.encode(reason, forKey: .reason)
            try keys.encode(stored, forKey: .stored)
            try keys.encode(failed, forKey: .failed)
        }
    }

    struct File: Encodable, Sendable {
        enum State: String, Encodable, Sendable {
            case waiting, coming, stored, failed
        }

        /// The number of its item.
        var item: Int
        var name: String
        /// Bytes that have come.
        var offset: UInt64 = 0
        var state = State.waiting
        var message: String?
    }

    var version = 1
    var state = Phase.waiting
    /// Why nothing, or no more, of it is taken.
    var cause: EndCause?
    var items: [Item]
    var files: [File]
}

/// The answer to the question.
struct OfferTicket: Encodable {
    var offer: String
    var items: [OfferReport.Item]
}

/// The answer to a piece of a file.
struct PieceReport: Encodable, Sendable {
    var offset: UInt64
    var state: OfferReport.File.State
    var message: String?
    /// The name in the Inbox, of an item that is this file.
    var stored: String?
}
