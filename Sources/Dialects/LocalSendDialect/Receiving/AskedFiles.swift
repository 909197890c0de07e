import Digests
import Foundation
import Sharing
import UniformTypes

/// A question as an offer, with the place of each file in it.
///
/// Files whose names share a first folder are one item, a folder. Other files are items of their own. A message is a text
/// or a URL.
struct AskedFiles {
    /// A file's place in the offer.
    struct Place {
        var item: Int
        /// In its folder; nil for an item that is this file.
        var path: SafeRelativePath?
        var size: UInt64
        var modified: Timestamp?
        var digest: Digest?
    }

    let offer: Offer
    /// As it describes itself.
    let sender: LocalSendDevice
    /// By the files' ids.
    let places: [String: Place]
    /// The contents of a message, which come with the question.
    let message: [UInt8]?
    /// Names that could not be kept.
    let remarks: RemarkList

    /// - Throws: `protocolViolation` or `unsafeName`.
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
        var builder = ItemBuilder(registry)
        for file in question.files.sorted(by: { ($0.value.fileName, $0.key) < ($1.value.fileName, $1.key) }) {
            guard file.key == file.value.id, file.key.utf8.count <= LocalSendLimits.identifierBytes else {
                throw Self.malformed("a file's id is not its key")
            }
            try builder.add(file.value)
        }
        offer = try Self.offer(
            try builder.finishedItems(), from: name, digests: builder.hasDigests ? [.sha256] : [.xxh3_128], registry)
        (places, message, remarks) = (builder.places, nil, builder.remarks)
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

/// Gathers files into items.
private struct ItemBuilder {
    private(set) var places: [String: AskedFiles.Place] = [:]
    private(set) var remarks = RemarkList()
    private(set) var hasDigests = false

    private let registry: TypeRegistry
    private var items: [OfferedItem] = []
    private var trees: [String: Int] = [:]
    /// Of each tree.
    private var entries: [Int: (files: Set<SafeRelativePath>, folders: Set<SafeRelativePath>)] = [:]

    init(_ registry: TypeRegistry) { self.registry = registry }

    mutating func add(_ file: LocalSendFile) throws(TransferError) {
        guard file.size <= Limits.itemBytes else { throw AskedFiles.malformed("a file of \(file.size) bytes") }
        let names = try names(of: file.fileName)
        var place = AskedFiles.Place(item: 0, path: nil, size: file.size)
        place.modified = file.metadata?.modified.flatMap { LocalSendTime.read($0) }
        if let text = file.sha256, let digest = Digest("\(DigestAlgorithm.sha256.rawValue):\(text.lowercased())") {
            place.digest = digest
            hasDigests = true
        }
        if names.count == 1 {
            place.item = items.count
            let type = AnnouncedType.of(said: said(file.fileType), name: names[0].text, kind: .file, registry)
            items.append(OfferedItem(kind: .file, name: names[0], type: type, size: file.size))
        } else {
            place.item = tree(names[0])
            place.path = try path(names.dropFirst())
            try enter(place, file.fileName)
        }
        places[file.id] = place
    }

    /// - Throws: `unsafeName` for a file that is also a folder.
    func finishedItems() throws(TransferError) -> [OfferedItem] {
        var items = self.items
        for (number, paths) in entries {
            if let both = paths.files.first(where: { paths.folders.contains($0) }) {
                throw unsafe(both.text, "it is a file and a folder")
            }
            items[number].entries = UInt64(paths.files.count + paths.folders.count + 1)
        }
        return items
    }

    private mutating func names(of name: String) throws(TransferError) -> [SafeName] {
        let composed = name.precomposedStringWithCanonicalMapping
        guard !PathText.isAbsolute(composed), composed.utf8.count <= SafeRelativePath.maximumBytes else {
            throw unsafe(name, "it is an absolute or a very long path")
        }
        let parts = PathText.names(in: composed)
        guard !parts.isEmpty, !parts.contains("."), !parts.contains("..") else {
            throw unsafe(name, "it is no path below a folder")
        }
        let names = parts.map { SafeName(fitting: String($0)) }
        if zip(parts, names).contains(where: { $0 != $1.text }) {
            remarks.renamed(name, names.map(\.text).joined(separator: "/"))
        }
        return names
    }

    private mutating func tree(_ name: SafeName) -> Int {
        if let number = trees[name.text] { return number }
        let type = AnnouncedType.of(said: nil, name: name.text, kind: .tree, registry)
        items.append(OfferedItem(kind: .tree, name: name, type: type, size: 0, entries: nil))
        trees[name.text] = items.count - 1
        return items.count - 1
    }

    private func path(_ names: ArraySlice<SafeName>) throws(TransferError) -> SafeRelativePath {
        do throws(NameError) {
            return try SafeRelativePath(names.map(\.text).joined(separator: "/"))
        } catch {
            throw unsafe(names.map(\.text).joined(separator: "/"), "\(error)")
        }
    }

    /// Counts a file and the folders around it.
    private mutating func enter(_ place: AskedFiles.Place, _ name: String) throws(TransferError) {
        guard let path = place.path else { return }
        guard entries[place.item, default: ([], [])].files.insert(path).inserted else {
            throw unsafe(name, "another file has the same name")
        }
        var folder = path.parent
        while let next = folder, entries[place.item, default: ([], [])].folders.insert(next).inserted {
            folder = next.parent
        }
        let (sum, overflow) = (items[place.item].size ?? 0).addingReportingOverflow(place.size)
        guard !overflow, sum <= Limits.itemBytes else { throw AskedFiles.malformed("a folder of too many bytes") }
        items[place.item].size = sum
    }

    private func said(_ type: String) -> UniformType? {
        switch type.lowercased() {
        case "image": .image
        case "video": UniformType("public.movie")
        case "pdf": UniformType("com.adobe.pdf")
        case "text": UniformType("public.plain-text")
        case "", "other", "apk", "application/octet-stream": nil
        case let mime: registry.type(forMIMEType: mime)
        }
    }

    private func unsafe(_ name: String, _ reason: String) -> TransferError {
        TransferError(.unsafeName, "\(PathText.printable(name, limit: 120)) cannot be stored: \(reason)")
    }
}
