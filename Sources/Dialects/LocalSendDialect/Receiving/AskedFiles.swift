import Digests
import Foundation
import Sharing
import UniformTypes

/// A question as an offer, with the place of each file in it.
///
/// Files whose names share a first folder are one item, a folder. Other files are items of their own. A message is a text
/// or a URL.
struct AskedFiles {
    let offer: Offer
    /// As it describes itself.
    let sender: LocalSendDevice
    /// By the files' ids.
    let places: [String: OfferedFiles.Member]
    /// The contents of a message, which come with the question.
    let message: [UInt8]?
    /// Names that could not be kept.
    let remarks: RemarkList

    /// A file whose name cannot be kept is left out, as the app leaves it out.
    /// - Throws: `protocolViolation`; `unsafeName` if no file is left.
    init(_ question: LocalSendQuestion, registry: TypeRegistry) throws(TransferError) {
        guard !question.files.isEmpty else { throw Self.malformed("no files are offered") }
        guard question.files.count <= LocalSendLimits.files else {
            throw Self.malformed("more than \(LocalSendLimits.files) files are offered at once")
        }
        sender = question.info
        let name = sender.alias
        if let (item, contents) = Self.message(in: question) {
            offer = try Self.offer([item], from: name, digests: [.xxh3_128], registry)
            (places, message, remarks) = ([:], contents, RemarkList())
            return
        }
        var files = OfferedFiles(registry)
        var places: [String: OfferedFiles.Member] = [:]
        var odd: TransferError?
        for file in question.files.sorted(by: { ($0.value.fileName, $0.key) < ($1.value.fileName, $1.key) }) {
            guard file.key == file.value.id, file.key.utf8.count <= LocalSendLimits.identifierBytes else {
                throw Self.malformed("a file's id is not its key")
            }
            do throws(TransferError) {
                places[file.key] = try Self.add(file.value, to: &files, registry)
            } catch  where error.code == .unsafeName {
                files.leaveOut(file.value.fileName, error)
                odd = odd ?? error
            }
        }
        if let odd, places.isEmpty { throw odd }
        offer = try Self.offer(
            files.finishedItems, from: name,
            digests: places.values.contains { $0.digest != nil } ? [.sha256] : [.xxh3_128], registry)
        (self.places, message, remarks) = (places, nil, files.remarks)
    }

    private static func add(
        _ file: LocalSendFile, to files: inout OfferedFiles, _ registry: TypeRegistry
    ) throws(TransferError) -> OfferedFiles.Member {
        // A checksum that cannot be read was meant to be compared: without it the file would pass unchecked.
        let digest = file.sha256.flatMap { Digest("\(DigestAlgorithm.sha256.rawValue):\($0.lowercased())") }
        guard digest != nil || file.sha256 == nil else { throw malformed("the sha256 of a file is none") }
        return try files.add(
            file.fileName.precomposedStringWithCanonicalMapping, size: file.size, said: said(file.fileType, registry),
            modified: file.metadata?.modified.flatMap { Timestamp(rfc3339: $0) },
            digest: digest)
    }

    private static func said(_ type: String, _ registry: TypeRegistry) -> UniformType? {
        switch type.lowercased() {
        case "image": .image
        case "video": UniformType("public.movie")
        case "pdf": UniformType("com.adobe.pdf")
        case "text": UniformType("public.plain-text")
        case "", "other", "apk", "application/octet-stream": nil
        case let mime: registry.type(forMIMEType: mime)
        }
    }

    private static func offer(
        _ items: [OfferedItem], from name: String, digests: [DigestAlgorithm], _ registry: TypeRegistry
    ) throws(TransferError) -> Offer {
        guard items.count <= Limits.items else {
            throw malformed("more than \(Limits.items) files and folders are offered at once; put them into a folder")
        }
        return try Offer(items: items, senderName: name, digests: digests, dialect: .localsend).checked(by: registry)
    }

    /// The only file of a question, if it is a message whose text is in the question.
    private static func message(in question: LocalSendQuestion) -> (OfferedItem, [UInt8])? {
        guard question.files.count == 1, let file = question.files.values.first, let text = file.preview,
            file.fileType == "text" || file.fileType.hasPrefix("text/"),
            text.utf8.count == file.size, (1...LocalSendLimits.messageBytes).contains(text.utf8.count)
        else { return nil }
        if let url = try? InternetShortcut(text.trimmingCharacters(in: .whitespacesAndNewlines)) {
            let contents = url.contents
            return (OfferedItem(kind: .url, name: url.name, type: .url, size: UInt64(contents.count)), contents)
        }
        let item = OfferedItem(kind: .text, name: TextName.of(text), type: .utf8PlainText, size: file.size)
        return (item, Array(text.utf8))
    }

    static func malformed(_ words: String) -> TransferError {
        TransferError(.protocolViolation, "the message is malformed: \(words)")
    }
}
