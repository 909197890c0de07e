private import Glibc
internal import UniformTypes

/// Recognises content: by the signatures of programs, then by those of the commonest formats, then by the shared MIME
/// database.
struct ContentRecognizer: Sendable {
    /// Bytes at the start that are looked at. No rule of the database reaches further than 20 KiB.
    static let headByteCount = 64 << 10

    /// Bytes of the longest signature that is text, `SQLite format 3`, and one more.
    private static let clearTextByteCount = 16

    let database: MagicDatabase

    func content(of source: some ByteSource) throws(ReadError) -> Content {
        let head = try source.read(at: 0, count: Self.headByteCount)
        // Typed errors do not cross the closure's border.
        let result: Result<Content, ReadError> = head.withUnsafeBytes { head in
            do throws(ReadError) {
                return .success(try content(of: source, head: head))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func content(
        of source: some ByteSource,
        head: UnsafeRawBufferPointer
    ) throws(ReadError) -> Content {
        var content = Content()
        content.isEmpty = head.isEmpty
        content.text = TextForm(head, isWhole: UInt64(head.count) >= source.size)
        content.isClearlyText = content.text == .utf8 && head.count >= Self.clearTextByteCount
        guard !head.isEmpty else { return content }
        if let signature = ExecutableSignature(head) {
            content.signature = signature
            content.mayBeProse = signature == .windows && content.text == .utf8 && head.count > 2
            content.type = content.mayBeProse ? nil : signature.type
            content.isExact = !content.mayBeProse
            return content
        }
        let builtIn = FormatSignature(head)
        content.storage = builtIn?.storage
        content.type = builtIn?.type
        content.isExact = builtIn?.type != nil
        switch content.storage {
        case .zip:
            let listing = try ZipListing(source, head: head)
            refine(&content, with: listing)
        case .compoundFile:
            if let type = try CompoundFile.type(of: source, head: head) {
                content.type = type
                content.isExact = true
            }
        default: break
        }
        take(database.matches(head).filter { isPlausible($0, content) }, into: &content)
        return content
    }

    private func refine(_ content: inout Content, with listing: ZipListing) {
        var listing = listing
        if let mimeType = listing.mimeType.map({ database.unaliased($0) }) {
            if let row = CrosswalkTable.row(for: mimeType) {
                content.mimeType = mimeType
                content.extensions = row.extensions
                if let type = row.type { content.type = type }
            } else {
                // The names say more than a type that is not known.
                listing.mimeType = nil
            }
        }
        content.listing = listing
        guard let family = listing.families.first else { return }
        // The name `mimetype` says more than names that all OpenDocument files have, but does not excuse a program.
        if listing.mimeType == nil || family.runs { content.type = family.type(listing.markers) }
        content.alternatives = listing.families.dropFirst().map { $0.type(listing.markers) }
    }

    /// Whether a rule that content fits may be believed.
    private func isPlausible(_ match: MagicMatch, _ content: Content) -> Bool {
        // These are found by their signatures, before; the database's rules for them have a few more of two bytes.
        guard !Self.foundBySignature.contains(match.mimeType) else { return false }
        // `<html` in the middle of other bytes makes no page.
        let lineage = database.lineage(of: match.mimeType)
        let isText =
            lineage.contains("text/plain") || lineage.contains("application/xml")
            || match.mimeType.hasPrefix("text/")
        return !isText || content.text != nil
    }

    private static let foundBySignature: Set<String> = [
        "application/x-executable", "application/x-sharedlib", "application/x-object", "application/x-core",
        "application/x-ms-dos-executable", "application/x-msdownload", "application/x-dosexec",
        "application/vnd.microsoft.portable-executable", "application/x-java", "application/wasm",
        "application/x-pie-executable",
    ]

    /// Uses the database for content that no built-in signature matches, and to refine a match; never to contradict it.
    private func take(_ matches: [MagicMatch], into content: inout Content) {
        let readings = matches.map { Reading($0, database) }
        if content.storage == nil, content.type == nil {
            guard let reading = readings.first else { return }
            content.take(reading)
            content.isWeak = reading.match.isWeak
            content.alternatives = readings.dropFirst().compactMap(\.type)
        } else if let reading = readings.first(where: { content.isRefined(by: $0) }) {
            content.take(reading)
        } else if let reading = readings.first(where: { $0.type == content.type }) {
            content.mimeType = reading.match.mimeType
            content.extensions = reading.extensions
        }
    }
}

extension Content {
    fileprivate mutating func take(_ reading: Reading) {
        mimeType = reading.match.mimeType
        type = reading.type
        isExact = reading.isExact
        extensions = reading.extensions
        storage = storage ?? reading.storage
    }

    /// Whether a reading is a refinement of the recognised type.
    fileprivate func isRefined(by reading: Reading) -> Bool {
        guard let special = reading.type, special != type else { return false }
        if isPlainStorage {
            // A rule that looks where the built-in ones look has seen more; one that searches must fit.
            if reading.match.offset == 0 || (type == nil && reading.match.isFixed) { return true }
            guard let storage else { return false }
            return Storage.of([special] + TypeRegistry.system.supertypes(of: special).map(\.type)).contains(storage)
        }
        return listing == nil && type.map { TypeRegistry.system.conforms(special, to: $0) } ?? false
    }
}

/// A match, translated into uniform types.
private struct Reading {
    let match: MagicMatch
    let type: UniformType?
    let isExact: Bool
    let extensions: [String]
    let storage: Storage?

    init(_ match: MagicMatch, _ database: MagicDatabase) {
        self.match = match
        let lineage = database.lineage(of: match.mimeType)
        storage = lineage.lazy.compactMap { Storage(plainMIMEType: $0) }.first
        let row = CrosswalkTable.row(for: match.mimeType)
        extensions = row?.extensions ?? []
        if let type = row?.type {
            self.type = type
            isExact = true
            return
        }
        isExact = false
        // The name of a form of storage does not name the format inside.
        guard storage?.plainMIMEType != match.mimeType else {
            type = nil
            return
        }
        // A subclass in the database conforms to its parent.
        let parent = row?.parent ?? lineage.lazy.compactMap { CrosswalkTable.row(for: $0)?.type }.first
        guard let parent, parent != .data || !extensions.isEmpty else {
            type = nil
            return
        }
        let dynamic = extensions.first.flatMap {
            DynamicType(supertypes: [parent], tags: [TypeTag(.filenameExtension, $0)])
        }
        type = dynamic?.type ?? (parent == .data ? nil : parent)
    }
}
