import NIOCore
import PropertyLists
import Sharing

/// The messages that this side writes, with the published keys.
enum AirDropMessage {
    /// A sender's question to every receiver for its name. The sender's own record, which contains hashed addresses that can
    /// be guessed (security rule 14), is in it only if the user has given one.
    static func discover(from card: AirDropCard) -> PropertyList { .dictionary([senderRecord: .data(card.record)]) }

    /// The features that Apple's current receivers report. Senders appear to expect it. Its bits are unknown; those of
    /// the TXT record decide what a sender sends.
    private static let deviceSupportFlags: Int64 = 111_611

    /// Marks a receiver as Waft. Other senders ignore an unknown key.
    static let waftKey = "Waft"
    /// The picture of a question.
    static let iconKey = "FileIcon"

    /// The answer to discovery.
    static func showing(_ card: AirDropCard) -> PropertyList {
        var message: [String: PropertyList] = [
            "ReceiverComputerName": .string(card.name),
            "ReceiverModelName": .string(card.model),
            // JSON. Only version 1: the sender must convert formats that not every device can show.
            "ReceiverMediaCapabilities": .data(Array("{\"Version\":1}".utf8)),
            "IsAirDropable": .boolean(true),
            "DeviceSupportFlags": .integer(deviceSupportFlags),
            waftKey: .boolean(true),
        ]
        if !card.record.isEmpty { message["ReceiverRecordData"] = .data(card.record) }
        return .dictionary(message)
    }

    /// Accepts a question.
    static func accepting(_ card: AirDropCard) -> PropertyList {
        .dictionary(["ReceiverComputerName": .string(card.name), "ReceiverModelName": .string(card.model)])
    }

    /// The question whether the receiver accepts the items.
    /// - Parameters:
    ///   - icon: a picture of the items; only a JPEG is sent, which is the form that others read.
    ///   - instance: the sender's id.
    static func question(
        _ plan: SendingPlan, icon: ItemPreview? = nil, from card: AirDropCard, instance: String
    ) -> PropertyList {
        var message: [String: PropertyList] = [
            "SenderComputerName": .string(card.name),
            "SenderModelName": .string(card.model),
            "SenderID": .string(instance),
            "BundleID": .string("com.apple.finder"),
            "ConvertMediaFormats": .boolean(false),
            "Items": .array(plan.links.map { .string($0.url) }),
            "TransferID": .dictionary(["id": .string(plan.identifier)]),
            "TransferType": .dictionary([plan.files.isEmpty ? "links" : "files": .dictionary([:])]),
            senderRecord: .data(card.record),
        ]
        if let icon, icon.isJPEG { message[iconKey] = .data(icon.bytes) }
        if !plan.files.isEmpty { message["Files"] = .array(plan.files.map(file)) }
        return .dictionary(message)
    }

    private static func file(_ file: SendingPlan.File) -> PropertyList {
        var message: [String: PropertyList] = [
            "FileName": .string(file.name.text),
            "FileType": .string(file.type),
            "FileBomPath": .string("./" + file.name.text),
            "FileIsDirectory": .boolean(file.isFolder),
            "ConvertMediaFormats": .integer(0),
        ]
        if let size = file.size { message["FileSize"] = .integer(Int64(clamping: size)) }
        return .dictionary(message)
    }

    /// A link as a file of Apple's form, for receivers that take no links in the question.
    static func webloc(_ url: String) -> PropertyList { .dictionary(["URL": .string(url)]) }

    private static let senderRecord = "SenderRecordData"
}

extension PropertyList {
    /// Reads a message.
    /// - Returns: nil if the bytes are no binary property list or exceed the bounds.
    init?(message: ByteBuffer) {
        do throws(PropertyListError) { try self.init(reading: message) } catch { return nil }
    }

    /// - Throws: `PropertyListError` if the bytes are no binary property list or exceed the bounds.
    init(reading message: ByteBuffer) throws(PropertyListError) {
        try self.init(binary: Array(message.readableBytesView), within: AirDropLimits.propertyList)
    }

    /// The value as a message.
    func encoded() throws -> ByteBuffer { ByteBuffer(bytes: try encoded(as: .binary)) }
}
