package import Contacts
package import Lines
package import Sharing

/// The peers that the user knows.
package struct KnownPeers: Sendable {
    private let book: ContactBook

    package init(_ book: ContactBook) {
        self.book = book
    }

    /// If the contacts cannot be read, every peer is a stranger. May block on the disk.
    /// - Parameter name: the name that the peer gives itself; nil if it does not tell it.
    package func person(_ peer: PeerID, callingItself name: String?) -> Person {
        Person(
            id: peer, ownName: name,
            introduction: book.introduction(of: peer, callingItself: name))
    }

    /// The names of the contacts; empty if they cannot be read. May block on the disk.
    package var contactNames: [String] { ((try? book.snapshot()) ?? .empty).contacts.map(\.name.text) }

    /// Finds a contact by its name or the beginning of its id. May block on the disk.
    /// - Throws: `ContactError`, as `ContactSnapshot.find`, and if the contacts cannot be read.
    package func contact(_ text: String) throws(ContactError) -> Contact { try book.snapshot().find(text) }

    /// Whether a contact has this name. False if they cannot be read. May block on the disk.
    package func isContact(named text: String) -> Bool { (try? book.snapshot())?.contact(named: text) != nil }

    /// Number of contacts; 0 if they cannot be read. May block on the disk.
    package var contactCount: Int { (try? book.snapshot())?.contacts.count ?? 0 }
}
