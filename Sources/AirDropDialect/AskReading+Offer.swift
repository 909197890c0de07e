import NIOCore
import Sharing
import UniformTypes

/// What a question becomes here: an offer, and which member of the archive is which item.
struct AskedOffer {
    var offer: Offer
    /// What the sender calls the transfer.
    var identifier: String?
    /// By the names of their members.
    var files: [String: Int] = [:]
    /// The links, which come after the files.
    var links: [(item: Int, contents: ByteBuffer)] = []

    /// - Throws: `protocolViolation` or `unsafeName`.
    init(_ ask: AskReading, registry: TypeRegistry) throws(TransferFault) {
        var items: [OfferedItem] = []
        for file in ask.files {
            let item = try file.offered(registry)
            let key = try file.member()
            guard files.updateValue(items.count, forKey: key) == nil else {
                throw .malformed("two files of the same name")
            }
            items.append(item)
        }
        for link in ask.links {
            guard let shortcut = try? InternetShortcut(link) else { throw .malformed("an item that is no link") }
            let contents = ByteBuffer(bytes: shortcut.contents)
            links.append((items.count, contents))
            items.append(
                OfferedItem(kind: .url, name: shortcut.name, type: .url, size: UInt64(contents.readableBytes)))
        }
        var annotation: [String: String] = [:]
        // A courtesy, as the name is.
        if let application = ask.application, !application.isEmpty { annotation["sourceApplication"] = application }
        // The sender's own name for the transfer is not taken: it could be another's.
        offer = try Offer(
            items: items, annotation: annotation, senderName: PeerName.fit(ask.senderName), dialect: .airdrop
        ).checked(by: registry)
        identifier = ask.identifier
    }
}

extension AskReading.File {
    fileprivate func offered(_ registry: TypeRegistry) throws(TransferFault) -> OfferedItem {
        let text = MemberPath.composed(name)
        let safe: SafeName
        do {
            safe = try SafeName(text)
        } catch {
            throw TransferFault(.unsafeName, "an item cannot be stored: \(error.said(of: name))")
        }
        let type = AnnouncedType.of(
            said: type.flatMap { UniformType($0) }, name: text, kind: isFolder ? .tree : .file, registry)
        // What a sender says of a folder is the size of its entry on the disk, and nothing about what is in it.
        guard !isFolder else { return OfferedItem(kind: .tree, name: safe, type: type, size: nil, entries: nil) }
        if let size, size > Limits.itemBytes { throw .malformed("an item of \(size) bytes") }
        return OfferedItem(kind: .file, name: safe, type: type, size: size)
    }

    /// The name of the member it comes as.
    fileprivate func member() throws(TransferFault) -> String {
        do {
            var path = try MemberPath(path)
            path.unwrap { _ in false }
            guard let item = path.item, path.names.count == 1 else {
                throw TransferFault.malformed("a file somewhere inside the archive")
            }
            return item
        } catch let error as NameRefusal {
            throw TransferFault(.unsafeName, "an item cannot be stored: \(error.said(of: self.path))")
        } catch let fault as TransferFault {
            throw fault
        } catch {
            throw .malformed("a file without a place")
        }
    }
}
