import Foundation
package import Sharing

/// The files of an open journal, to detect that one was removed or replaced.
///
/// Writes to a removed or moved file are lost: the next start finds another journal.
struct JournalFiles: Sendable {
    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t

        /// Nil if nothing is at the path. Follows links, as SQLite does.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    private let known: [(path: String, identity: Identity)]

    /// Records the files of a journal that has just been opened.
    init(of file: JournalFile) {
        known = [file.path, file.logPath].compactMap { path in Identity(of: path).map { (path, $0) } }
    }

    var isKept: Bool { known.allSatisfy { Identity(of: $0.path) == $0.identity } }
}

extension Journal {
    /// Checks that the journal's files are still where they were opened.
    /// - Throws: `JournalError` with a line without paths, because senders see it too.
    package func checkPlace() throws(JournalError) {
        guard place.isKept else { throw JournalError(Self.placeLost) }
    }

    static let placeLost =
        "the receiver's journal was removed, or another file was put in its place, while the receiver ran; "
        + "nothing can be stored until the receiver is restarted"
}
