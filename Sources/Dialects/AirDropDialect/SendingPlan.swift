import NIOCore
package import Sharing
import UniformTypes

/// One transfer in AirDrop's form: some sources become files of an archive, others links of the question.
package struct SendingPlan: Sendable {
    struct File: Sendable {
        /// The source's index.
        var item: Int
        /// Unique in this archive.
        var name: SafeName
        var type: String
        var isFolder: Bool
        var size: UInt64?
        /// The contents of a link that is sent as a file of Apple's form.
        var replacement: [UInt8]?
    }

    package let offer: Offer
    let sources: [any ItemSource]
    var files: [File] = []
    /// Each with its source's index; empty if there are files.
    var links: [(item: Int, url: String)] = []

    /// - Parameter flags: the receiver's.
    /// - Throws: `TransferError`, before anything is sent, for items that AirDrop cannot carry; `SourceError` for a
    ///   link that cannot be read.
    package init(_ offer: Offer, _ sources: [any ItemSource], to flags: AirDropFlags) throws {
        self.offer = offer
        self.sources = sources
        var taken: Set<SafeName> = []
        let areLinks = flags.contains(.links) && sources.allSatisfy { $0.offered.kind == .url }
        for (number, source) in sources.enumerated() {
            let item = source.offered
            let url = item.kind == .url ? try source.url() : nil
            if let url, areLinks {
                links.append((number, url))
                continue
            }
            var file = File(
                item: number, name: item.name, type: item.type.identifier, isFolder: item.kind == .tree,
                size: item.size)
            if let url { try file.become(url) } else { try Self.check(source) }
            file.name = file.name.free(&taken)
            files.append(file)
        }
        guard max(files.count, links.count) <= AirDropLimits.files else { throw Self.tooMany(sources.count) }
    }

    /// The fault for a question with too many items: not every receiver takes a long message.
    static func tooMany(_ count: Int) -> TransferError {
        TransferError(
            .unreadable,
            "AirDrop asks about \(AirDropLimits.files) items at most in one message of "
                + "\(ByteCount.text(UInt64(AirDropLimits.askBytes))), and these are \(count): send a folder that they are in"
        )
    }

    private static func check(_ source: any ItemSource) throws(TransferError) {
        guard source.offered.kind == .tree || source.offered.size != nil else {
            throw TransferError(
                .unreadable,
                "AirDrop has to know the size of \(source.origin) first: write it into a file, and send that")
        }
        if let largest = source.largestFile, largest > AirDropDialect.largestFile {
            throw TransferError(
                .unreadable,
                "\(source.origin) has a file of \(ByteCount.text(largest)), and AirDrop carries files of up to "
                    + "\(AirDropDialect.largestFile) bytes")
        }
    }
}

extension SendingPlan.File {
    fileprivate mutating func become(_ url: String) throws {
        let contents = try AirDropMessage.webloc(url).encoded()
        replacement = Array(contents.readableBytesView)
        size = UInt64(contents.readableBytes)
        type = "com.apple.web-internet-location"
        if let webloc = try? SafeName(name.split.stem + ".webloc") { name = webloc }
    }
}
