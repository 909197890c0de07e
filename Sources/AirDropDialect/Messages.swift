import Foundation
import NIOCore
import Sharing

/// The messages as this side writes them: binary property lists. Keys of the published protocol.
protocol AirDropMessage: Encodable {}

extension AirDropMessage {
    func encoded() throws -> ByteBuffer {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return ByteBuffer(bytes: try encoder.encode(self))
    }
}

/// What a sender asks everybody: who are you?
struct DiscoverMessage: AirDropMessage {
    /// Empty: it would hold the sender's own addresses, hashed so that they can be guessed (security rule 14).
    var SenderRecordData = Data()
}

/// The answer to both questions.
struct ReceiverMessage: AirDropMessage {
    var ReceiverComputerName: String
    var ReceiverModelName: String
    /// JSON. Version 1 and no more: what cannot be shown everywhere is to be converted by who sends it.
    var ReceiverMediaCapabilities: Data?
    var IsAirDropable: Bool?
    var DeviceSupportFlags: UInt64?

    /// The answer to a question about what is to come.
    init(accepting card: AirDropCard) {
        ReceiverComputerName = card.name
        ReceiverModelName = card.model
    }

    /// The answer to discovery.
    init(showing card: AirDropCard, flags: AirDropFlags) {
        self.init(accepting: card)
        ReceiverMediaCapabilities = Data("{\"Version\":1}".utf8)
        IsAirDropable = true
        DeviceSupportFlags = flags.rawValue
    }
}

/// The question whether something may come.
struct AskMessage: AirDropMessage {
    struct File: Encodable {
        var FileName: String
        var FileType: String
        /// Where it lies in the archive.
        var FileBomPath: String
        var FileIsDirectory: Bool
        var FileSize: UInt64?
        var ConvertMediaFormats = 0
    }

    struct Identifier: Encodable {
        var id: String
    }

    struct Nothing: Encodable {}

    struct Kind: Encodable {
        var files: Nothing?
        var links: Nothing?
    }

    var SenderComputerName: String
    var SenderModelName: String
    var SenderID: String
    var BundleID = "com.apple.finder"
    var ConvertMediaFormats = false
    var Files: [File]?
    var Items: [String]
    var TransferID: Identifier
    var TransferType: Kind
    /// As in `DiscoverMessage`.
    var SenderRecordData = Data()
}

/// A link as a file of Apple's form, for receivers that take no links.
struct WeblocFile: AirDropMessage {
    var URL: String
}

/// What a question says, read with suspicion.
struct AskReading {
    struct File {
        var name: String
        var type: String?
        /// Where it lies in the archive; its name where that is not said.
        var path: String
        var isFolder: Bool
        var size: UInt64?
    }

    var senderName: String
    /// What the sender calls the transfer; only compared.
    var identifier: String?
    var application: String?
    var files: [File] = []
    var links: [String] = []

    /// - Throws: `protocolViolation` in one line, without what came.
    init(_ body: ByteBuffer) throws(TransferFault) {
        guard let message = BinaryPropertyList.read(body)?.dictionary else {
            throw .malformed("not the property list that was expected")
        }
        senderName = message["SenderComputerName"]?.string ?? ""
        application = message["BundleID"]?.string.flatMap {
            $0.utf8.count <= AirDropLimits.identifierBytes ? $0 : nil
        }
        identifier = message["TransferID"]?.dictionary?["id"]?.string ?? message["TransferID"]?.string
        if let identifier, identifier.utf8.count > AirDropLimits.identifierBytes { throw .malformed("a long id") }
        for value in message["Files"]?.array ?? [] {
            guard let file = value.dictionary, let name = file["FileName"]?.string else {
                throw .malformed("a file without a name")
            }
            files.append(
                File(
                    name: name, type: file["FileType"]?.string, path: file["FileBomPath"]?.string ?? name,
                    isFolder: file["FileIsDirectory"]?.truth ?? false, size: file["FileSize"]?.unsigned))
        }
        for value in message["Items"]?.array ?? [] {
            guard let link = value.string, link.utf8.count <= InternetShortcut.maximumBytes else {
                throw .malformed("an item that is no link")
            }
            links.append(link)
        }
        guard !files.isEmpty || !links.isEmpty else { throw .malformed("nothing is asked for") }
        guard files.count <= Limits.items, links.count <= Limits.items - files.count else {
            throw .malformed("\(files.count) files and \(links.count) links")
        }
    }
}

extension TransferFault {
    /// A message that is not what the protocol allows.
    static func malformed(_ what: String) -> TransferFault {
        TransferFault(.protocolViolation, "the message is malformed: \(what)")
    }
}
