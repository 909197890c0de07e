private import Glibc
internal import UniformTypes

/// The rules of the shared MIME database of this machine and its user that recognise content by its bytes, not by
/// names.
///
/// A value that is read once. To see a database that changed on disk, make another one.
package struct MagicDatabase: Sendable {
    /// The user's before the machine's.
    private let caches: [MIMECache]

    /// No database: only the built-in signatures are used.
    package static var none: MagicDatabase { MagicDatabase(dataFolders: []) }

    /// The databases in these folders (`FOLDER/mime/mime.cache`), the most important one first. Skips folders without a
    /// database, or with one that is damaged or of an unknown version.
    package init(dataFolders: [String]) {
        caches = dataFolders.compactMap { MIMECache(path: $0 + "/mime/mime.cache") }
    }

    /// For tests of damaged ones.
    init(caches: [MIMECache]) {
        self.caches = caches
    }

    /// The databases of the XDG Base Directory Specification: in `XDG_DATA_HOME` (`~/.local/share`), then in each of
    /// `XDG_DATA_DIRS` (`/usr/local/share:/usr/share`). Relative paths are ignored, as it asks.
    package static func installed() -> MagicDatabase {
        installed { name in getenv(name).map { String(cString: $0) } }
    }

    /// - Parameter environment: returns the value of an environment variable, nil if it is not set.
    package static func installed(environment: (String) -> String?) -> MagicDatabase {
        func value(_ name: String) -> String? { environment(name).flatMap { $0.isEmpty ? nil : $0 } }
        let home = value("XDG_DATA_HOME") ?? value("HOME").map { $0 + "/.local/share" }
        let shared = value("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        let folders = [home].compactMap(\.self) + shared.split(separator: ":").map(String.init)
        return MagicDatabase(dataFolders: folders.filter { $0.hasPrefix("/") })
    }

    /// Whether nothing was found.
    package var isEmpty: Bool { caches.isEmpty }

    /// The rules of the highest priority in all databases that match the start of some content; at equal priority, the
    /// more special type first.
    func matches(_ head: UnsafeRawBufferPointer) -> [MagicMatch] {
        var found: [MagicMatch] = []
        for cache in caches {
            let more = cache.matches(head, least: found.first?.priority ?? 0)
            guard let priority = more.first?.priority else { continue }
            found = priority > found.first?.priority ?? -1 ? more : found + more
        }
        guard found.count > 1 else { return found }
        let special = found.filter { match in
            !found.contains { $0.mimeType != match.mimeType && isSubclass($0.mimeType, of: match.mimeType) }
        }
        return special + found.filter { !special.contains($0) }
    }

    /// The name that the databases use for a MIME type.
    func unaliased(_ mimeType: String) -> String {
        caches.lazy.compactMap { $0.unaliased(mimeType) }.first ?? mimeType
    }

    /// The MIME type and all types that it is a subclass of, the nearest first.
    func lineage(of mimeType: String) -> [String] {
        var lineage = [mimeType]
        var expanded = 0
        while expanded < lineage.count, lineage.count < MIMECache.Limits.ambiguity {
            let next = lineage[expanded]
            expanded += 1
            for parent in caches.flatMap({ $0.parents(of: next) }) where !lineage.contains(parent) {
                lineage.append(parent)
            }
        }
        return lineage
    }

    func isSubclass(_ mimeType: String, of other: String) -> Bool { lineage(of: mimeType).contains(other) }

    /// The declared types that content can be recognised as.
    var recognizable: Set<UniformType> {
        var types: Set<UniformType> = []
        for cache in caches {
            for mimeType in cache.typesWithMagic {
                if let type = CrosswalkTable.row(for: mimeType)?.type { types.insert(type) }
            }
        }
        return types
    }
}
