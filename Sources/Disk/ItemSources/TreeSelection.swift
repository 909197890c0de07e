import Glibc
import Sharing

/// Selects the entries of a folder that are sent.
package struct TreeSelection: Hashable, Sendable {
    /// Shell patterns of fnmatch(3). A matching entry is left out with everything in it. A pattern without a slash
    /// applies to each entry's name; one with a slash applies to its path below the folder. One that ends with a slash
    /// applies to folders only.
    package let excluded: [String]
    /// Whether entries that cannot be sent are left out; otherwise they are a fault.
    package var skipsUnsendable: Bool

    package static let everything = TreeSelection()

    package init(excluded: [String] = [], skipsUnsendable: Bool = false) {
        self.excluded = excluded
        self.skipsUnsendable = skipsUnsendable
    }

    /// - Parameters:
    ///   - name: the entry's name; ends with a NUL.
    ///   - path: the path below the folder, including the name.
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
