import NIOCore
import PropertyLists
import Sharing

/// The fields of a question, checked against the bounds.
struct AskReading {
    struct File {
        var name: String
        var type: String?
        /// The path in the archive; the name if the sender states no path.
        var path: String
        var isFolder: Bool
        var size: UInt64?
    }

    var senderName: String
    /// The sender's identifier of the transfer; only compared.
    var identifier: String?
    var application: String?
    var files: [File] = []
    var links: [String] = []
    /// A small picture of the items; nil for none, and for one that is no preview, such as the JPEG 2000 of Macs.
    var icon: ItemPreview?

    /// - Parameter keepsIcon: False drops the picture.
    /// - Throws: `protocolViolation` in one line, without foreign text.
    init(_ body: ByteBuffer, keepsIcon: Bool = false) throws(TransferError) {
        let list: PropertyList
        do throws(PropertyListError) { list = try PropertyList(reading: body) } catch {
            throw .malformed("it \(error)")
        }
        guard let message = list.dictionary else { throw .malformed("it \(PropertyListError.notADictionary)") }
        senderName = message["SenderComputerName"]?.string ?? ""
        application = message["BundleID"]?.string.flatMap {
            $0.utf8.count <= AirDropLimits.identifierBytes ? $0 : nil
        }
        // A preview never fails a question.
        if keepsIcon, let icon = message[AirDropMessage.iconKey]?.data, icon.count <= Limits.previewBytes {
            self.icon = ItemPreview(icon)
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
                throw .malformed("an item that is not a link")
            }
            links.append(link)
        }
        guard !files.isEmpty || !links.isEmpty else { throw .malformed("nothing is asked for") }
        guard files.count <= Limits.items, links.count <= Limits.items - files.count else {
            throw .malformed("\(files.count) files and \(links.count) links")
        }
    }
}

extension TransferError {
    /// A message that violates the protocol.
    static func malformed(_ what: String) -> TransferError {
        TransferError(.protocolViolation, "the message is malformed: \(what)")
    }
}
