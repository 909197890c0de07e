/// A point in time as file systems keep it.
package struct Timestamp: Hashable, Sendable {
    /// Seconds since 1970-01-01 UTC; may be negative.
    package var seconds: Int64
    /// 0...999,999,999.
    package var nanoseconds: UInt32

    package init(seconds: Int64, nanoseconds: UInt32) {
        self.seconds = seconds
        self.nanoseconds = min(nanoseconds, 999_999_999)
    }
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

/// One file as it is announced in the stream of contents.
package struct FileEntry: Hashable, Sendable {
    /// Where in the tree; nil where the file is the item itself.
    package var path: SafeRelativePath?
    /// Whether anybody may execute it: the only mode bit that travels.
    package var executable: Bool
    package var modified: Timestamp?
    /// Bytes; nil where the sender cannot know (standard input).
    package var size: UInt64?
    /// Bytes at its beginning that the receiver has kept and that do not come again.
    package var offset: UInt64 = 0

    package init(path: SafeRelativePath?, executable: Bool, modified: Timestamp?, size: UInt64?) {
        self.path = path
        self.executable = executable
        self.modified = modified
        self.size = size
    }
}

/// What comes next in an item's contents, in the order in which it is sent.
///
/// A folder comes before what is in it (the item's own folder is not among them: that it is a tree says so), and is
/// closed after all that is in it, which is when its time can be set.
package enum ContentStep: Hashable, Sendable {
    case folder(SafeRelativePath)
    /// The bytes of the file follow.
    case file(FileEntry)
    case link(SafeRelativePath, target: SafeLinkTarget)
    /// Nothing more comes below this folder (nil: the item itself).
    case folderClosed(SafeRelativePath?, modified: Timestamp?)
}
