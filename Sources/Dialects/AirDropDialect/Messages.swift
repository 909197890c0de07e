import NIOCore
import Sharing

/// The messages that this side writes, with the published keys.
enum AirDropMessage {
    /// A sender's question to every receiver for its name. It omits the sender's own record: that would contain hashed
    /// addresses, which can be guessed (security rule 14).
    static let discover = PropertyListValue.dictionary([senderRecord: noRecord])

    /// The features that Apple's current receivers report. Senders appear to expect it. Its bits are unknown; those of
    /// the TXT record decide what a sender sends.
    private static let deviceSupportFlags: UInt64 = 111_611

    /// Marks a receiver as Waft. Other senders ignore an unknown key.
    static let waftKey = "Waft"

    /// The answer to discovery.
    static func showing(_ card: AirDropCard) -> PropertyListValue {
        .dictionary([
            "ReceiverComputerName": .string(card.name),
            "ReceiverModelName": .string(card.model),
            // JSON. Only version 1: the sender must convert formats that not every device can show.
            "ReceiverMediaCapabilities": .data(ByteBuffer(string: "{\"Version\":1}")),
            "IsAirDropable": .bool(true),
            "DeviceSupportFlags": .integer(deviceSupportFlags),
            waftKey: .bool(true),
        ])
    }

    /// Accepts a question.
    static func accepting(_ card: AirDropCard) -> PropertyListValue {
        .dictionary(["ReceiverComputerName": .string(card.name), "ReceiverModelName": .string(card.model)])
    }

    /// The question whether the receiver accepts the items.
    /// - Parameter instance: the sender's id.
    static func question(_ plan: SendingPlan, from card: AirDropCard, instance: String) -> PropertyListValue {
        var message: [String: PropertyListValue] = [
            "SenderComputerName": .string(card.name),
            "SenderModelName": .string(card.model),
            "SenderID": .string(instance),
            "BundleID": .string("com.apple.finder"),
            "ConvertMediaFormats": .bool(false),
            "Items": .array(plan.links.map { .string($0.url) }),
            "TransferID": .dictionary(["id": .string(plan.identifier)]),
            "TransferType": .dictionary([plan.files.isEmpty ? "links" : "files": .dictionary([:])]),
            senderRecord: noRecord,
        ]
        if !plan.files.isEmpty { message["Files"] = .array(plan.files.map(file)) }
        return .dictionary(message)
    }

    private static func file(_ file: SendingPlan.File) -> PropertyListValue {
        var message: [String: PropertyListValue] = [
            "FileName": .string(file.name.text),
            "FileType": .string(file.type),
            "FileBomPath": .string("./" + file.name.text),
            "FileIsDirectory": .bool(file.isFolder),
            "ConvertMediaFormats": .integer(0),
        ]
        if let size = file.size { message["FileSize"] = .integer(size) }
        return .dictionary(message)
    }

    /// A link as a file of Apple's form, for receivers that take no links in the question.
    static func webloc(_ url: String) -> PropertyListValue { .dictionary(["URL": .string(url)]) }

    private static let senderRecord = "SenderRecordData"
    private static let noRecord = PropertyListValue.data(ByteBuffer())
}
