import Glibc
import Sharing

/// Which entries of a folder are sent.
package struct TreeSelection: Hashable, Sendable {
    /// Shell patterns, as fnmatch(3) has them, of entries that are left out with everything in them. A pattern without a slash
    /// is held against the name of each entry, one with a slash against its path below the folder; one that ends with a slash
    /// means folders only.
    package let excluded: [String]
    /// Whether entries that cannot be sent are left out; otherwise they are a fault.
    package var skipsUnsendable: Bool

    package static let everything = TreeSelection()

    package init(excluded: [String] = [], skipsUnsendable: Bool = false) {
        self.excluded = excluded
        self.skipsUnsendable = skipsUnsendable
    }

    /// - Parameters:
    ///   - name: of the entry; ends with a NUL.
    ///   - path: below the folder, with the name at its end.
    package func excludes(_ name: UnsafePointer<CChar>, path: @autoclosure () -> String, isFolder: Bool) -> Bool {
        excluded.contains { pattern in
            let isForFolders = pattern.utf8.last == UInt8(ascii: "/")
            if isForFolders, !isFolder { return false }
            let wanted = isForFolders ? String(pattern.dropLast()) : pattern
            guard wanted.utf8.contains(UInt8(ascii: "/")) else { return fnmatch(wanted, name, 0) == 0 }
            let below = wanted.utf8.first == UInt8(ascii: "/") ? String(wanted.dropFirst()) : wanted
            return fnmatch(below, path(), FNM_PATHNAME) == 0
        }
    }
}
