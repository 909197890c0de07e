import Digests
import Foundation
import Sharing
import UniformTypes

/// A guest's question as JSON: `{"name":"Anna","items":[{"name":"trip/a.jpg","size":123},{"text":"hello"}]}`.
struct GuestQuestion: Decodable {
    struct Item: Decodable {
        /// Of a file, with slashes for folders.
        var name: String?
        var size: UInt64?
        /// A MIME type.
        var type: String?
        var modified: String?
        /// Of an item that is a text or a link, and no file.
        var text: String?
        var url: String?
    }

    var name: String?
    var items: [Item]
}

/// A guest's question as an offer.
struct GuestItems {
    /// A file of the question.
    struct File {
        var name: String
        var place: OfferedFiles.Member
    }

    let offer: Offer
    /// In the order of the question.
    let files: [File]
    /// The contents of texts and links, by their items.
    let texts: [Int: [UInt8]]
    let remarks: RemarkList

    /// - Throws: `protocolViolation` or `unsafeName`.
    init(_ question: GuestQuestion, registry: TypeRegistry) throws(TransferError) {
        guard !question.items.isEmpty else { throw Self.malformed("nothing is offered") }
        guard question.items.count <= WebLimits.files else {
            throw Self.malformed("more than \(WebLimits.files) files are offered at once")
        }
        var gathered = OfferedFiles(registry)
        var files: [File] = []
        var texts: [Int: [UInt8]] = [:]
        for item in question.items {
            switch (item.name, item.size, item.text ?? item.url) {
            case (let name?, let size?, nil):
                let place = try gathered.add(
                    name.precomposedStringWithCanonicalMapping, size: size, said: Self.said(item.type, registry),
                    modified: item.modified.flatMap { Timestamp(rfc3339: $0) })
                files.append(File(name: name, place: place))
            case (_, nil, let text?):
                let (item, contents) = try Self.message(text)
                texts[gathered.add(item)] = contents
            default: throw Self.malformed("an item is neither a file nor a text nor a link")
            }
        }
        let items = gathered.finishedItems
        guard items.count <= Limits.items else {
            throw Self.malformed("more than \(Limits.items) items are offered at once; put them into a folder")
        }
        offer = try Offer(
            items: items, senderName: Self.senderName(question.name), digests: [.xxh3_128], takesPart: true,
            dialect: .web
        ).checked(by: registry)
        (self.files, self.texts, remarks) = (files, texts, gathered.remarks)
    }

    /// A text that is a link is one.
    static func message(_ text: String) throws(TransferError) -> (OfferedItem, [UInt8]) {
        guard (1...WebLimits.textBytes).contains(text.utf8.count) else {
            throw malformed("a text is empty, or has more than \(WebLimits.textBytes) bytes")
        }
        if let url = try? InternetShortcut(text.trimmingCharacters(in: .whitespacesAndNewlines)) {
            let contents = url.contents
            return (OfferedItem(kind: .url, name: url.name, type: .url, size: UInt64(contents.count)), contents)
        }
        let contents = Array(text.utf8)
        return (
            OfferedItem(kind: .text, name: TextName.of(text), type: .utf8PlainText, size: UInt64(contents.count)),
            contents
        )
    }

    /// The type that a browser names.
    static func said(_ type: String?, _ registry: TypeRegistry) -> UniformType? {
        guard let type = type?.split(separator: ";").first?.lowercased(), type != "application/octet-stream" else {
            return nil
        }
        return registry.type(forMIMEType: String(type))
    }

    /// A name that a guest typed, cut to the length of a peer's name.
    static func senderName(_ typed: String?) -> String {
        var name = ""
        for character in (typed ?? "").trimmingCharacters(in: .whitespacesAndNewlines) {
            guard name.utf8.count + character.utf8.count <= Limits.peerNameBytes else { break }
            name.append(character)
        }
        return name.isEmpty ? WebDialect.guestName : name
    }

    static func malformed(_ words: String) -> TransferError {
        TransferError(.protocolViolation, "the message is malformed: \(words)")
    }
}
