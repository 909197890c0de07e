package import Sharing

/// The contacts as they were at one time.
package struct ContactSnapshot: Sendable {
    /// By name.
    package let contacts: [Contact]
    /// In the order of blocking.
    package let blockedStrangers: [BlockedStranger]
    /// By name.
    package let groups: [ContactGroup]

    private let byID: [PeerID: Int]
    private let byName: [String: Int]
    private let bySkeleton: [String: [Int]]
    private let blocked: Set<PeerID>
    /// Of the contacts that are not blocked; nil if none has an end.
    private let firstEnd: WallTime?

    package static let empty = ContactSnapshot(contacts: [], blockedStrangers: [])

    /// - Parameter contacts: with different keys and names.
    package init(contacts: [Contact], blockedStrangers: [BlockedStranger], groups: [ContactGroup] = []) {
        let contacts = contacts.sorted { $0.name.key < $1.name.key }
        self.contacts = contacts
        self.blockedStrangers = blockedStrangers
        self.groups = groups.sorted { $0.name.key < $1.name.key }
        byID = Dictionary(contacts.indices.map { (contacts[$0].id, $0) }) { first, _ in first }
        byName = Dictionary(contacts.indices.map { (contacts[$0].name.key, $0) }) { first, _ in first }
        bySkeleton = Dictionary(grouping: contacts.indices) { NameFolding.skeleton(contacts[$0].name.text) }
        blocked = Set(blockedStrangers.map(\.id))
        firstEnd = contacts.lazy.filter { !$0.isBlocked }.compactMap(\.ends).min()
    }

    /// Without the contacts whose end has come.
    func current(at now: WallTime) -> ContactSnapshot {
        guard let firstEnd, firstEnd <= now else { return self }
        return ContactSnapshot(
            contacts: contacts.filter { !$0.hasEnded(at: now) }, blockedStrangers: blockedStrangers, groups: groups)
    }

    package subscript(id: PeerID) -> Contact? { byID[id].map { contacts[$0] } }

    /// The contact with this name; case, normalisation and invisible characters do not matter. As Waft shows a contact,
    /// with the mark behind it and with numbers for characters that cannot be seen, a name means the same.
    package func contact(named name: String) -> Contact? {
        guard name.utf8.prefix(1_024).count < 1_024 else { return nil }
        if let contact = contact(typed: name) { return contact }
        guard name.hasSuffix("✓") else { return nil }
        return contact(typed: String(name.dropLast().reversed().drop { $0 == " " }.reversed()))
    }

    private func contact(typed name: String) -> Contact? {
        if let place = byName[NameFolding.key(name)] { return contacts[place] }
        guard TypedName.isEscaped(name) else { return nil }
        let shown = contacts.filter { TypedName.means(name, $0.name.text) }
        return shown.count == 1 ? shown[0] : nil
    }

    /// The contact for a text that a user types: its name, or the beginning of its key's id (`PeerID.shortestPrefix`
    /// characters or more). A name has precedence over ids that begin like it.
    ///
    /// - Throws: `ContactError` `unknownContact`, `ambiguous`.
    package func find(_ text: String) throws(ContactError) -> Contact {
        if let contact = contact(named: text) { return contact }
        let found = contacts.filter { $0.id.hasPrefix(text) }
        if found.count > 1 {
            let names = found.prefix(8).map { "\($0.name) (\($0.id.short))" }.joined(separator: ", ")
            throw ContactError(
                .ambiguous, "\(text.quoted) is the beginning of several keys: \(names)\(found.count > 8 ? ", …" : "")")
        }
        guard let contact = found.first else {
            let near = NearWord.closest(to: text, among: contacts.map(\.name.text))
            let advice = near.map { "; did you mean \($0)?" } ?? ""
            throw ContactError(.unknownContact, "there is no contact \(text.quoted)\(advice)")
        }
        return contact
    }

    /// The relation of a peer by its key alone.
    package func relation(of id: PeerID) -> PeerRelation {
        if let contact = self[id] { return contact.isBlocked ? .blocked(contact) : .contact(contact) }
        return blocked.contains(id) ? .blocked(nil) : .stranger
    }

    /// The relation of a peer that connects by `dialect`: a peer that has proved no key is a stranger.
    package func relation(of id: PeerID, by dialect: Dialect) -> PeerRelation {
        dialect.proof != .never && id.unprovenBy == nil ? relation(of: id) : .stranger
    }

    /// The contacts that `name` resembles although the peer's key is another. In this order: equal names, names that
    /// look the same, names that are whole words in `name`, and names that differ from it in one letter
    /// (`NameLikeness`).
    ///
    /// For display. At most eight.
    package func impersonated(by name: String, of id: PeerID) -> [Contact] {
        if contacts.isEmpty { return [] }
        let name = PeerName.fit(name, fallback: "")
        guard !name.isEmpty else { return [] }
        var found: [Contact] = []
        func add(_ contact: Contact) {
            guard contact.id != id, found.count < 8, !found.contains(where: { $0.id == contact.id }) else { return }
            found.append(contact)
        }
        if let contact = contact(named: name) { add(contact) }
        let likeness = NameLikeness(name)
        for skeleton in likeness.skeletons { for index in bySkeleton[skeleton] ?? [] { add(contacts[index]) } }
        let near = bySkeleton.filter { likeness.isNear($0.key) }.flatMap(\.value).sorted()
        for index in near where !likeness.differsInNumber(from: contacts[index].name.text) { add(contacts[index]) }
        return found
    }
}

/// The relation of a peer to the user.
package enum PeerRelation: Hashable, Sendable {
    case contact(Contact)
    case stranger
    /// Nothing is accepted from this peer. The value is its contact, or nil for a stranger.
    case blocked(Contact?)
}

extension ContactSnapshot {
    /// - Parameter name: the peer's name for itself, nil if it does not tell it; ignored for a contact.
    package func introduction(of id: PeerID, callingItself name: String?) -> Introduction {
        if let contact = self[id] {
            return Introduction(contact: contact.name.text, key: id.short)
        }
        let alike = name.map { impersonated(by: $0, of: id) } ?? []
        return Introduction(
            strangerNamed: name.map(TypedName.ofStranger) ?? "", key: id.unprovenBy == nil ? id.short : nil,
            unprovenBy: id.unprovenBy, claims: alike.first?.name.text, warning: warning(of: id, alike))
    }

    /// - Parameter alike: the contacts whose names its name resembles.
    private func warning(of id: PeerID, _ alike: [Contact]) -> String? {
        guard let first = alike.first else { return nil }
        let others = alike.count > 1 ? " (and like \(alike.count - 1) more)" : ""
        let key = id.unprovenBy.map { "\($0.title) proves no key" } ?? "its key is \(id.short)"
        return "this is not your contact \(first.name)\(others): it claims that name, but \(key), and "
            + "the key of \(first.name) is \(first.id.short)"
    }
}
