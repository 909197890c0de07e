import NIOCore
import Sharing
import UniformTypes

/// A question as an offer, with the members of the archive for each item.
struct AskedOffer {
    var offer: Offer
    /// The sender's identifier of the transfer.
    var identifier: String?
    private(set) var places = AnnouncedItems()
    /// The links; their item numbers follow those of the files.
    var links: [(item: Int, contents: ByteBuffer)] = []
    /// Items that are stored under a name other than the announced one.
    private(set) var remarks = RemarkList()

    /// - Throws: `protocolViolation` or `unsafeName`.
    init(_ ask: AskReading, registry: TypeRegistry) throws(TransferError) {
        var items: [OfferedItem] = []
        for file in ask.files {
            let item = try file.offered(registry)
            if item.name.text != MemberPath.composed(file.name) { remarks.renamed(file.name, item.name.text) }
            try places.add(items.count, item.kind, at: try file.member())
            items.append(item)
        }
        for link in ask.links {
            guard let shortcut = try? InternetShortcut(link) else { throw .malformed("an item that is not a link") }
            let contents = ByteBuffer(bytes: shortcut.contents)
            links.append((items.count, contents))
            items.append(
                OfferedItem(kind: .url, name: shortcut.name, type: .url, size: UInt64(contents.readableBytes)))
        }
        items[0].preview = ask.icon
        var annotation: [String: String] = [:]
        // Optional information for the user, like the sender's name.
        annotation[SourceApplication.key] = SourceApplication.valid(ask.application)
        // The offer does not use the sender's id of the transfer: it could equal another sender's.
        offer = try Offer(
            items: items, annotation: annotation, senderName: PeerName.fit(ask.senderName), dialect: .airdrop
        ).checked(by: registry)
        identifier = ask.identifier
    }
}

extension AskReading.File {
    fileprivate func offered(_ registry: TypeRegistry) throws(TransferError) -> OfferedItem {
        guard !name.isEmpty else { throw .malformed("a file without a name") }
        let safe = SafeName(fitting: MemberPath.composed(name))
        let type = AnnouncedType.of(
            said: type.flatMap { UniformType($0) }, name: safe.text, kind: isFolder ? .tree : .file, registry)
        // The announced size of a folder is that of its directory entry, not of its contents.
        guard !isFolder else { return OfferedItem(kind: .tree, name: safe, type: type, size: nil, entries: nil) }
        if let size, size > Limits.itemBytes { throw .malformed("an item of \(size) bytes") }
        // Senders convert pictures and films for this receiver; the announced size can be that of the original.
        let isConverted = [UniformType.image, .audiovisualContent].contains { registry.conforms(type, to: $0) }
        var item = OfferedItem(kind: .file, name: safe, type: type, size: isConverted ? nil : size)
        if isConverted { item.sizeHint = size }
        return item
    }

    /// The item's path in the archive.
    fileprivate func member() throws(TransferError) -> MemberPath {
        do throws(NameError) {
            var path = try MemberPath(path)
            path.unwrap { _ in false }
            guard !path.names.isEmpty else { throw .empty }
            guard path.names.count <= AirDropLimits.announcedDepth else { throw .tooDeep }
            return path
        } catch {
            throw TransferError(.unsafeName, "an item cannot be stored: \(error.said(of: path))")
        }
    }
}

/// The places of a question's items in the archive.
struct AnnouncedItems {
    /// Item numbers by the paths of their members. Files with the same path come in the order of the question.
    private var items: [String: [Int]] = [:]
    /// Paths of the announced folders.
    private var trees: Set<String> = []
    /// Folders of the archive that contain announced items.
    private var folders: Set<String> = []
    /// Number of names in the longest path of an announced item.
    private var depth = 0

    var isEmpty: Bool { items.isEmpty }

    /// - Throws: `protocolViolation` if a folder and another item have the same place.
    mutating func add(_ number: Int, _ kind: ItemKind, at path: MemberPath) throws(TransferError) {
        if items[path.text] != nil, kind == .tree || trees.contains(path.text) {
            throw .malformed("two items in one place, one of them a folder")
        }
        items[path.text, default: []].append(number)
        if kind == .tree { trees.insert(path.text) }
        depth = max(depth, path.names.count)
        for count in 1..<path.names.count { folders.insert(path.names.prefix(count).joined(separator: "/")) }
    }

    /// The numbers of the items at a place; nil if none was announced.
    subscript(_ place: String) -> [Int]? { items[place] }

    /// Finds the announced item that is the member or contains it.
    /// - Returns: the item's place, and the number of names in it; nil if no announced item fits.
    func item(of member: MemberPath) -> (place: String, depth: Int)? {
        var place = ""
        for (index, name) in member.names.prefix(depth).enumerated() {
            place += index == 0 ? String(name) : "/" + name
            if items[place] != nil { return (place, index + 1) }
        }
        return nil
    }

    /// Whether a member is the root of the archive, or a folder around announced items.
    func isAround(_ member: MemberPath) -> Bool { member.names.isEmpty || folders.contains(member.text) }
}
