import Digests
import Sharing
import UniformTypes

// The JSON documents of the protocol (section 3), and nothing but their form: the domain's types are made from them
// and checked in `Messages+Sharing.swift`. Fields that are not named here are ignored.

/// What all messages have: the version of the protocol they are written in.
protocol MessageReading: Decodable {
    var v: Int { get }
}

/// A message that is followed by items, each on a line of its own (section 3).
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
    }

    var v = 1
    var transfer: String
    var sender: Sender?
    var digests: [String]?
    var annotation: [String: String]?
    var partial: Bool?
}

struct VerdictMessage: ListMessage {
    struct Item: Codable {
        var item: Int
        var answer: String
        var reason: String?
        var kept: Bool?
        var present: String?
    }

    var v = 1
    var digest: String
    var `default`: String
    var reason: String?
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
        var handler: Handler?
        var content: Content?
        var already: Bool?
    }

    var v = 1
    var transfer: String
}

struct FaultMessage: ListMessage {
    typealias Item = ReceiptMessage.Item

    var v = 1
    var fault: String
    var message: String
    /// The transfer whose receipt follows; nil if none does.
    var transfer: String?
}
