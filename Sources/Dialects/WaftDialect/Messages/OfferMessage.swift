import Digests
import Sharing
import UniformTypes

// The form of the protocol's JSON documents (section 3). `OfferMessage+Sharing.swift` makes the domain's types from them
// and checks these. Fields without a name here are ignored.

/// The field of all messages: the version of their protocol.
protocol MessageReading: Decodable {
    var v: Int { get }
}

/// A message with items after it, one on each line (section 3).
protocol ListMessage: Codable, MessageReading {
    associatedtype Item: Codable
}

struct CardMessage: Codable, MessageReading {
    var v = 1
    var name: String
    var device: String?
}

struct OfferMessage: ListMessage {
    struct Sender: Codable {
        var name: String?
        var application: String?
    }

    struct Item: Codable {
        var kind: String
        var name: String
        var type: String
        var size: UInt64?
        var entries: UInt64?
        var needs: Needs?
        /// Only written: `PreviewSieve` takes it out of a message that is read.
        var preview: Preview?
    }

    struct Needs: Codable {
        var links: Bool?
        var characters: String?
        var `case`: Bool?
        var name: UInt64?
    }

    struct Preview: Codable {
        var type: String
        /// Base64 (RFC 4648, section 4), with padding and without line breaks.
        var data: String
    }

    var v = 1
    var transfer: String
    var sender: Sender?
    var digests: [String]?
    var annotation: [String: String]?
    var partial: Bool?
    /// Milliseconds.
    var wait: UInt64?
    var call: Bool?
    var group: Lenient<GroupMessage>?
}

struct VerdictMessage: ListMessage {
    struct Item: Codable {
        var item: Int
        var answer: String
        var reason: String?
        var cause: String?
        var kept: Bool?
        var present: String?
    }

    var v = 1
    var digest: String
    var `default`: String
    var reason: String?
    var cause: String?
    var relay: Lenient<RelayMessage>?
}

struct ReceiptMessage: ListMessage {
    struct Handler: Codable {
        var state: String
        var exit: Int?
    }

    struct Content: Codable {
        var outcome: String
        var type: String?
        var explanation: String?
    }

    struct Item: Codable {
        var state: String
        var name: String?
        var size: UInt64?
        var digest: String?
        var fault: String?
        var message: String?
        var cause: String?
        var handler: Handler?
        var content: Content?
        var already: Bool?
        var again: Bool?
    }

    var v = 1
    var transfer: String
}

struct FaultMessage: Codable, MessageReading {
    var v = 1
    var fault: String
    var message: String
    var cause: String?
}
