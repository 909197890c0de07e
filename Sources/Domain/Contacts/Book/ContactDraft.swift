package import Sharing

/// The contacts while they are being changed.
package struct ContactDraft: Sendable {
    private(set) var contacts: [PeerID: Contact]
    private(set) var blockedStrangers: [BlockedStranger]
    var groups: [ContactGroup]
    private var names: [String: PeerID]
    /// The contacts before any change.
    package let before: ContactSnapshot

    init(_ snapshot: ContactSnapshot) {
        before = snapshot
        contacts = Dictionary(snapshot.contacts.map { ($0.id, $0) }) { first, _ in first }
        blockedStrangers = snapshot.blockedStrangers
        groups = snapshot.groups
        names = Dictionary(snapshot.contacts.map { ($0.name.key, $0.id) }) { first, _ in first }
    }

    var snapshot: ContactSnapshot {
        ContactSnapshot(contacts: Array(contacts.values), blockedStrangers: blockedStrangers, groups: groups)
    }

    /// Makes a contact of a verified key, or verifies a contact again; then its name and its verification change, and it
    /// has no end any more.
    ///
    /// - Throws: `ContactError` `nameTaken`; `blocked` if the peer is blocked; `full`.
    @discardableResult
    package mutating func allow(
        _ id: PeerID, named name: ContactName, _ verification: Verification
    ) throws(ContactError) -> Contact {
        let isBlockedStranger = blockedStrangers.contains { $0.id == id }
        if isBlockedStranger || contacts[id]?.isBlocked == true {
            throw ContactError(.blocked, "the peer \(id.short) is blocked; unblock it first")
        }
        try checkFree(name, for: id)
        guard contacts[id] != nil || contacts.count < ContactBounds.contacts else {
            throw ContactError(.full, "there are \(ContactBounds.contacts) contacts; no more can be stored")
        }
        var contact = contacts[id] ?? Contact(id: id, name: name, verification: verification)
        contact.name = name
        contact.verification = verification
        contact.ends = nil
        replace(contact)
        return contact
    }

    /// - Throws: `ContactError` `unknownContact`, `nameTaken`.
    package mutating func rename(_ id: PeerID, to name: ContactName) throws(ContactError) {
        try checkFree(name, for: id)
        var contact = try contact(id)
        contact.name = name
        replace(contact)
    }

    /// Changes policy, limits and destination of a contact.
    ///
    /// - Throws: `ContactError` `unknownContact`; `unfit` for limits with too many types.
    package mutating func set(_ id: PeerID, _ body: (inout Contact) -> Void) throws(ContactError) {
        var contact = try contact(id)
        let before = contact
        body(&contact)
        guard contact.id == before.id else {
            throw .unfit("a contact's key cannot be changed; forget it, and allow the other")
        }
        guard contact.limits.types.count <= ContactBounds.types else {
            throw .unfit("a contact's limits name at most \(ContactBounds.types) types")
        }
        replace(contact)
    }

    /// Makes the contact a stranger. A blocked contact becomes a blocked stranger.
    ///
    /// - Throws: `ContactError` `unknownContact`, `full`.
    package mutating func forget(_ id: PeerID, at time: WallTime) throws(ContactError) {
        let contact = try contact(id)
        if contact.isBlocked { try blockStranger(id, callingItself: contact.name.text, at: time) }
        names[contact.name.key] = nil
        contacts[id] = nil
    }

    /// Blocks a peer, contact or stranger: nothing is accepted from it any more.
    ///
    /// - Parameter name: the name that a stranger uses for itself.
    /// - Throws: `ContactError` `full`.
    package mutating func block(_ id: PeerID, callingItself name: String, at time: WallTime) throws(ContactError) {
        if contacts[id] != nil {
            contacts[id]?.isBlocked = true
        } else {
            try blockStranger(id, callingItself: name, at: time)
        }
    }

    private mutating func blockStranger(
        _ id: PeerID, callingItself name: String, at time: WallTime
    ) throws(ContactError) {
        if blockedStrangers.contains(where: { $0.id == id }) { return }
        // A new one does not replace an older one: a stranger could free itself with new keys.
        guard blockedStrangers.count < ContactBounds.blockedStrangers else {
            throw ContactError(.full, "\(ContactBounds.blockedStrangers) strangers are blocked; unblock some first")
        }
        blockedStrangers.append(BlockedStranger(id: id, calledItself: PeerName.fit(name), at: time))
    }

    /// - Returns: whether the peer was blocked.
    @discardableResult
    package mutating func unblock(_ id: PeerID) -> Bool {
        let wasContact = contacts[id]?.isBlocked ?? false
        contacts[id]?.isBlocked = false
        let before = blockedStrangers.count
        blockedStrangers.removeAll { $0.id == id }
        return wasContact || blockedStrangers.count < before
    }

    /// Puts an address first in a contact's list and drops the oldest ones. Does nothing for a stranger.
    package mutating func remember(_ address: KnownAddress, of id: PeerID) {
        guard var addresses = contacts[id]?.addresses else { return }
        addresses.removeAll { $0.isSamePlace(as: address) }
        addresses.insert(address, at: 0)
        contacts[id]?.addresses = Array(addresses.prefix(ContactBounds.addresses))
    }

    private func contact(_ id: PeerID) throws(ContactError) -> Contact {
        guard let contact = contacts[id] else {
            throw ContactError(.unknownContact, "there is no contact with the key \(id.short)")
        }
        return contact
    }

    private func checkFree(_ name: ContactName, for id: PeerID) throws(ContactError) {
        guard let other = names[name.key], other != id, let contact = contacts[other] else { return }
        throw ContactError(
            .nameTaken,
            "there is already a contact \(contact.name), with the key \(other.short); forget it first if its key has "
                + "changed, or choose another name")
    }

    private mutating func replace(_ contact: Contact) {
        if let old = contacts[contact.id] { names[old.name.key] = nil }
        names[contact.name.key] = contact.id
        contacts[contact.id] = contact
    }
}
