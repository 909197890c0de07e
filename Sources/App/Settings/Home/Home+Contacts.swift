package import Contacts
import Glibc
import HandlerCatalog
package import Journal
package import Logging
package import SecureTransport
package import Sharing
import SystemCalls
package import UniformTypes

extension Home {
    /// File of the contacts.
    package var contactsPath: String { state + "/contacts.json" }

    /// File of the peers whose addresses the user has given.
    package var rememberedPeersPath: String { state + "/remembered-peers.json" }

    /// File of the visibility that was chosen.
    package var visibilityPath: String { state + "/visibility.json" }

    /// Whether this machine may announce itself to strangers now, by the stored choice.
    package var announces: @Sendable () -> Bool {
        { [path = visibilityPath] in VisibilityFile(path: path).visibility == .everyone }
    }

    /// Folder of the jobs that wait to be sent.
    package var outbox: String { state + "/outbox" }

    /// Folder of the keys for protected items.
    package var protection: String { state + "/protection" }

    /// Places for the clear copies of protected items, the best first. The second one is for homes whose run folder is not
    /// in memory.
    package var clearFolders: [String] {
        var status = stat()
        guard stat(state, &status) == 0 else { return [run + "/clear"] }
        return [run + "/clear", "/dev/shm/waft-\(geteuid())-\(status.st_dev)-\(status.st_ino)"]
    }

    /// The contacts of this user. Reads nothing yet.
    ///
    /// - Parameter restored: as in `ContactBook.init`.
    package func contactBook(restored: @escaping @Sendable (String) -> Void = { _ in }) -> ContactBook {
        ContactBook(path: contactsPath, restored: restored)
    }

    /// The contacts of this user. A damaged file is logged.
    package func contactBook(_ logger: Logger) -> ContactBook {
        contactBook { logger.error("the contacts file was damaged", metadata: ["reason": "\($0)"]) }
    }

    /// One line for each damaged file of the state folder, including damaged files that were set aside.
    package func damage(_ book: ContactBook, _ journal: Journal) -> [String] {
        var lines = journal.damage.map { [$0] } ?? []
        do throws(ContactError) { _ = try book.snapshot() } catch { lines.append(error.description) }
        lines += DamagedFile.names(of: SmallFile.name(of: contactsPath), in: state).map {
            "the contacts were damaged, and their last good copy is in use; check them with: waft contacts; then remove "
                + "\(state)/\($0)"
        }
        lines += DamagedFile.names(of: "journal.sqlite", in: state).filter {
            !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        .map {
            "the journal was damaged, and a new one was started: waft history does not list older items; the files in the "
                + "Inbox are untouched; when you no longer need the damaged journal, remove \(state)/\($0)*"
        }
        return lines
    }

    /// The id of this peer. Makes its key if there is none. Blocks on the disk.
    ///
    /// - Throws: `IdentityError` for a key that cannot be read or made.
    package func ownID() throws(IdentityError) -> PeerID {
        try Identity.load(orMakeIn: state).peerID
    }

    /// All types that are known here, those among them that handlers declare. Blocks on the disk.
    package func typeRegistry() -> TypeRegistry {
        // The types do not depend on any setting.
        handlerCatalog(Settings(hostName: "")).load().registry
    }
}
