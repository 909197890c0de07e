import Foundation
import NIOCore
package import Sharing
package import UniformTypes

/// One transfer in LocalSend's form: some sources become files, each with an id and a name that may have folders in it.
///
/// Made on a thread that may block: folders are listed, and texts are read.
package struct LocalSendPlan: Sendable {
    struct File: Sendable {
        /// The source's index.
        var item: Int
        /// Its place in the source; nil for a source that is one file.
        var path: SafeRelativePath?
        var announced: LocalSendFile
        /// The contents of a text that was read with the plan; nil for a file.
        var contents: [UInt8]?
    }

    package let offer: Offer
    /// Lines about things that LocalSend does not carry, not escaped.
    package private(set) var remarks: [String] = []
    /// Whether it is one text or URL, which goes with the question.
    package private(set) var isMessage = false
    let sources: [any ItemSource]
    private(set) var files: [File] = []
    /// The files of each source.
    private(set) var ranges: [Range<Int>] = []

    private let registry: TypeRegistry

    /// - Throws: `TransferError`, before anything is sent, for items that LocalSend cannot carry; `SourceError` for a source
    ///   that cannot be read.
    package init(_ offer: Offer, _ sources: [any ItemSource], registry: TypeRegistry = .system) throws {
        (self.offer, self.sources, self.registry) = (offer, sources, registry)
        if sources.count == 1, let text = try Self.message(in: sources[0]) {
            isMessage = true
            ranges = [0..<1]
            let name = UUID().uuidString.lowercased() + ".txt"
            append(0, text: text, name: name)
            files[0].announced.preview = String(decoding: text, as: UTF8.self)
            return
        }
        var taken: Set<SafeName> = []
        for (number, source) in sources.enumerated() {
            let start = files.count
            switch source.offered.kind {
            case .tree where !source.isRepeatable:
                throw TransferError(
                    .unreadable,
                    "LocalSend names each file of a folder in the question, and \(source.origin) makes them afterwards: "
                        + "send it with --queue, which makes them first")
            case .tree: try append(number, tree: source, name: source.offered.name.free(&taken).text)
            case .url:
                let name = (try? SafeName(source.offered.name.split.stem + ".txt")) ?? source.offered.name
                append(number, text: Array(try source.url().utf8), name: name.free(&taken).text)
            case .file, .text: try append(number, file: source, name: source.offered.name.free(&taken).text)
            }
            ranges.append(start..<files.count)
            guard files.count <= LocalSendLimits.files else { throw Self.tooMany(offer) }
        }
        let urls = sources.count { $0.offered.kind == .url }
        if urls > 0 {
            remarks.append("LocalSend carries one URL as a link only when it goes alone: here each goes as a text file")
        }
    }

    /// The file of a token or an answer.
    func index(of id: String) -> Int? {
        guard id.first == "f", let index = Int(id.dropFirst()), files.indices.contains(index),
            files[index].announced.id == id
        else { return nil }
        return index
    }

    /// The whole question.
    /// - Throws: `TransferError` if it is too long for one message.
    func question(from device: LocalSendDevice) throws -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let bytes = try encoder.encode(LocalSendQuestion(info: device, files: files.map(\.announced)))
        guard bytes.count <= LocalSendLimits.questionBytes else { throw Self.tooMany(offer) }
        return ByteBuffer(bytes: bytes)
    }

    private static func tooMany(_ offer: Offer) -> TransferError {
        TransferError(
            .unreadable,
            "LocalSend asks about all files in one message of \(ByteCount.text(UInt64(LocalSendLimits.questionBytes))), and "
                + "these \(offer.knownEntries) do not fit: send them in parts, or as an archive")
    }

    // MARK: Items

    /// The text of a source that goes as a message.
    private static func message(in source: any ItemSource) throws -> [UInt8]? {
        switch source.offered.kind {
        case .url: return Array(try source.url().utf8)
        case .text:
            // A text that a program makes is not made before it is accepted.
            guard source.isRepeatable, let size = source.offered.size,
                (1...UInt64(LocalSendLimits.messageBytes)).contains(size),
                let text = try source.contents(upTo: LocalSendLimits.messageBytes),
                String(validating: text, as: UTF8.self) != nil
            else { return nil }
            return text
        case .file, .tree: return nil
        }
    }

    private mutating func append(_ item: Int, text: [UInt8], name: String) {
        append(item, name: name, size: UInt64(text.count), type: "text/plain")
        files[files.count - 1].contents = text
    }

    private mutating func append(_ item: Int, file source: any ItemSource, name: String) throws {
        guard let size = source.offered.size else {
            throw TransferError(
                .unreadable,
                "LocalSend has to know the size of \(source.origin) first: write it into a file, and send that")
        }
        var modified: Timestamp?
        if source.isRepeatable, source.offered.kind == .file, case .file(let entry)? = try source.open().next() {
            modified = entry.modified
        }
        append(item, name: name, size: size, type: mimeType(of: source.offered.type), modified: modified)
    }

    private mutating func append(
        _ item: Int, path: SafeRelativePath? = nil, name: String, size: UInt64, type: String, modified: Timestamp? = nil
    ) {
        var file = LocalSendFile(id: "f\(files.count)", fileName: name, size: size, fileType: type)
        file.metadata = modified?.rfc3339.map { LocalSendFile.Metadata(modified: $0) }
        files.append(File(item: item, path: path, announced: file))
    }

    private func mimeType(of type: UniformType) -> String {
        registry.preferredMIMEType(for: type) ?? "application/octet-stream"
    }

    // MARK: Folders

    private mutating func append(_ item: Int, tree source: any ItemSource, name: String) throws {
        var losses = Losses()
        /// Whether there is a file in each folder on the way.
        var isFilled: [Bool] = []
        let (reading, start) = (try source.open(), files.count)
        while let step = try reading.next() {
            switch step {
            case .folder: isFilled.append(false)
            case .folderClosed(nil, _): break
            case .folderClosed:
                guard let last = isFilled.popLast() else { break }
                if last { isFilled.fillLast() } else { losses.emptyFolders += 1 }
            case .link: losses.links += 1
            case .file(let entry):
                guard let path = entry.path, let size = entry.size else { break }
                guard files.count < LocalSendLimits.files else { throw Self.tooMany(offer) }
                isFilled.fillLast()
                if entry.executable { losses.executables += 1 }
                append(
                    item, path: path, name: name + "/" + path.text, size: size,
                    type: mimeType(of: registry.type(forFileName: path.name, kind: .regularFile)),
                    modified: entry.modified)
                try reading.skip(entry)
            }
        }
        guard files.count > start else {
            throw TransferError(.unreadable, "\(source.origin) has no files in it, and LocalSend carries nothing else")
        }
        if let words = losses.words { remarks.append("\(source.origin) has \(words), which LocalSend does not carry") }
    }
}

/// The entries of a folder that are lost on the way.
private struct Losses {
    var links = 0
    var emptyFolders = 0
    var executables = 0

    var words: String? {
        let counts = [
            count(links, "link", "links"), count(emptyFolders, "empty folder", "empty folders"),
            executables == 0 ? nil : "executable modes of " + (count(executables, "file", "files") ?? ""),
        ].compactMap(\.self)
        guard let last = counts.last else { return nil }
        return counts.count == 1 ? last : counts.dropLast().joined(separator: ", ") + " and " + last
    }

    private func count(_ number: Int, _ one: String, _ many: String) -> String? {
        number == 0 ? nil : "\(number) \(number == 1 ? one : many)"
    }
}

extension [Bool] {
    fileprivate mutating func fillLast() { if !isEmpty { self[count - 1] = true } }
}
