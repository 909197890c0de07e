/// One file as announced in the stream of contents.
package struct FileEntry: Hashable, Sendable {
    /// The path in the tree; nil if the file is the item itself.
    package var path: SafeRelativePath?
    /// Whether the file is executable: the only mode bit that is transferred.
    package var executable: Bool
    package var modified: Timestamp?
    /// Bytes; nil if the sender cannot know the size (standard input).
    package var size: UInt64?
    /// Leading bytes that the receiver has kept and that are not sent again.
    package var offset: UInt64 = 0

    package init(path: SafeRelativePath?, executable: Bool, modified: Timestamp?, size: UInt64?) {
        self.path = path
        self.executable = executable
        self.modified = modified
        self.size = size
    }
}

/// The next step in an item's contents, in the order of sending.
///
/// A folder comes before its contents and is closed after them, when its time can be set. The item's own folder does
/// not come: its kind is tree.
package enum ContentStep: Hashable, Sendable {
    case folder(SafeRelativePath)
    /// The bytes of the file follow.
    case file(FileEntry)
    case link(SafeRelativePath, target: SafeLinkTarget)
    /// No more entries follow below this folder (nil: the item itself).
    case folderClosed(SafeRelativePath?, modified: Timestamp?)
}
