/// The kind of an item in the file system, as far as its type depends on it.
package enum FileKind: Hashable, Sendable {
    /// Bytes under a name.
    case regularFile

    /// A directory, which may be a folder or a package.
    case directory
}
