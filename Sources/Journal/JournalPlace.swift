import Foundation
package import Sharing

/// The files of an open journal, by which it is known whether they still have their names.
///
/// A file that was removed, or moved away, takes all that is written to it, and nobody finds it again: at the next start
/// there is another journal.
struct JournalPlace: Sendable {
    private struct Identity: Equatable {
        var device: dev_t
        var inode: ino_t

        /// Nil where nothing lies at the path. Follows links, as SQLite does.
        init?(of path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode) = (status.st_dev, status.st_ino)
        }
    }

    private let known: [(path: String, identity: Identity)]

    /// Looks at the files of a journal that has just been opened.
    init(of file: JournalFile) {
        known = [file.path, file.logPath].compactMap { path in Identity(of: path).map { (path, $0) } }
    }

    var isKept: Bool { known.allSatisfy { Identity(of: $0.path) == $0.identity } }
}

extension Journal {
    /// Whether what is written to the journal can be found again: its files still lie where they were opened.
    /// - Throws: a line without paths, for senders too.
    package func checkPlace() throws(JournalFault) {
        guard place.isKept else { throw JournalFault(Self.placeLost) }
    }

    static let placeLost =
        "the receiver's journal was removed, or another file was put in its place, while the receiver ran; "
        + "nothing can be stored before the receiver is started again"
}
