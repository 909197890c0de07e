import Contacts
import Sharing

/// Who a peer is to this user, in words: contacts by the user's own name for them, strangers as strangers.
struct Acquaintances: Sendable {
    private let book: ContactBook

    init(_ book: ContactBook) {
        self.book = book
    }

    /// Of contacts that cannot be read nobody is known. May block on the disk.
    /// - Parameter name: what the peer called itself.
    func introduction(of peer: PeerID, callingItself name: String) -> Introduction {
        ((try? book.snapshot()) ?? .empty).introduction(of: peer, callingItself: name)
    }

    /// Finds a contact by its name or the beginning of its id. May block on the disk.
    /// - Throws: `ContactError`, as `ContactSnapshot.find`, and where the contacts cannot be read.
    func contact(_ text: String) throws(ContactError) -> Contact { try book.snapshot().find(text) }

    /// How many contacts there are; 0 where they cannot be read. May block on the disk.
    var contactCount: Int { (try? book.snapshot())?.contacts.count ?? 0 }

    /// One line, escaped: `anna`, or `stranger "Anna" (k7qf-9m2c-x4ap-t0zd)`.
    func line(_ peer: PeerID, callingItself name: String) -> String {
        TerminalText.escaped(introduction(of: peer, callingItself: name).line, limit: 800)
    }

    /// For programs: what the peer called itself, and the contact that it is.
    func document(_ peer: PeerID, callingItself name: String) -> EventLine.Peer {
        let introduction = introduction(of: peer, callingItself: name)
        return EventLine.Peer(
            id: peer.provenText, name: name, contact: introduction.isContact ? introduction.name : nil)
    }
}
