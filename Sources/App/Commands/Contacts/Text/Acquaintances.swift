import Contacts
import Sharing

/// Describes peers in words: a contact by the user's own name for it, a stranger as a stranger.
struct Acquaintances: Sendable {
    private let book: ContactBook

    init(_ book: ContactBook) {
        self.book = book
    }

    /// If the contacts cannot be read, every peer is a stranger. May block on the disk.
    /// - Parameter name: the name that the peer gives itself.
    func introduction(of peer: PeerID, callingItself name: String) -> Introduction {
        ((try? book.snapshot()) ?? .empty).introduction(of: peer, callingItself: name)
    }

    /// Finds a contact by its name or the beginning of its id. May block on the disk.
    /// - Throws: `ContactError`, as `ContactSnapshot.find`, and if the contacts cannot be read.
    func contact(_ text: String) throws(ContactError) -> Contact { try book.snapshot().find(text) }

    /// Number of contacts; 0 if they cannot be read. May block on the disk.
    var contactCount: Int { (try? book.snapshot())?.contacts.count ?? 0 }

    /// One line, escaped: `anna`, or `stranger "Anna" (k7qf-9m2c-x4ap-t0zd)`.
    func line(_ peer: PeerID, callingItself name: String) -> String {
        TerminalText.escaped(introduction(of: peer, callingItself: name).line, limit: 800)
    }

    /// For programs: the name that the peer gives itself, and the name of its contact.
    func fields(_ peer: PeerID, callingItself name: String) -> EventLine.Peer {
        let introduction = introduction(of: peer, callingItself: name)
        return EventLine.Peer(
            id: peer.provenText, name: name, contact: introduction.isContact ? introduction.name : nil)
    }
}
