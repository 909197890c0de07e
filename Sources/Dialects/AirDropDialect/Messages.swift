import NIOCore
import Sharing

/// The messages as this side writes them, by the published keys.
enum AirDropMessage {
    /// What a sender asks everybody: who are you? Without what it could say of itself, which would be its own addresses,
    /// hashed so that they can be guessed (security rule 14).
    static let discover = PropertyListValue.dictionary([senderRecord: noRecord])

    /// What current receivers of Apple's say that they support. Senders were seen to expect it; its bits are not known, and
    /// those of the TXT record decide what is sent.
    private static let deviceSupportFlags: UInt64 = 111_611

    /// Says that a receiver is one of Waft. Other senders pass over a key that they do not know.
    static let waftKey = "Waft"

    /// The answer to discovery.
    static func showing(_ card: AirDropCard) -> PropertyListValue {
        .dictionary([
            "ReceiverComputerName": .string(card.name),
            "ReceiverModelName": .string(card.model),
            // JSON. Version 1 and no more: what cannot be shown everywhere is to be converted by who sends it.
            "ReceiverMediaCapabilities": .data(ByteBuffer(string: "{\"Version\":1}")),
            "IsAirDropable": .bool(true),
            "DeviceSupportFlags": .integer(deviceSupportFlags),
            waftKey: .bool(true),
        ])
    }

    /// The answer to a question: yes.
    static func accepting(_ card: AirDropCard) -> PropertyListValue {
        .dictionary(["ReceiverComputerName": .string(card.name), "ReceiverModelName": .string(card.model)])
    }

    /// The question whether something may come.
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
