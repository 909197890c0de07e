import Foundation
package import SystemCalls

/// Records the version of each handler that answered yes to `first-launch`: a JSON object in Waft's own state, where no
/// handler can write. Keeps only the last version: a handler that returns to an older version is asked again.
///
/// A damaged file counts as empty: handlers are asked once more.
package struct FirstLaunches: Hashable, Sendable {
    /// Absolute.
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// Whether this version has answered yes. Reads the disk.
    ///
    /// - Parameter version: `CFBundleVersion`; empty for a bundle without one.
    package func isDone(_ identifier: BundleIdentifier, version: String) -> Bool {
        read()[Self.key(identifier)] == version
    }

    /// Records that this version has answered yes.
    ///
    /// - Throws: `SystemError`.
    package func note(_ identifier: BundleIdentifier, version: String) throws(SystemError) {
        try change { $0[Self.key(identifier)] = version }
    }

    /// Forgets a handler, so that it is asked again if it is installed again.
    ///
    /// - Throws: `SystemError`.
    package func forget(_ identifier: BundleIdentifier) throws(SystemError) {
        guard read()[Self.key(identifier)] != nil else { return }
        try change { $0[Self.key(identifier)] = nil }
    }

    private static func key(_ identifier: BundleIdentifier) -> String { identifier.text.lowercased() }

    private func read() -> [String: String] {
        guard let bytes = try? SmallFile.read(path, limit: CatalogLimits.documentBytes) else { return [:] }
        return (try? JSONDecoder().decode([String: String].self, from: Data(bytes))) ?? [:]
    }

    private func change(_ body: (inout [String: String]) -> Void) throws(SystemError) {
        let lock = try FolderLock.taking(Paths.folder(of: path))
        var versions = read()
        body(&versions)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(versions) else { throw SystemError(EINVAL) }
        try SmallFile.replace(path, with: Array(data) + [UInt8(ascii: "\n")], mode: 0o600)
        lock.release()
    }
}
