package import Sharing

/// Contacts to which the user sends together, as `@lab`.
package struct ContactGroup: Hashable, Sendable {
    /// Before the name of a group, where a peer could be meant.
    package static let mark: Character = "@"

    /// Without the mark.
    package let name: ContactName
    /// In the order of adding; at most `ContactBounds.members`. A key that is no contact any more stays until the user
    /// removes it: a sending names it.
    package internal(set) var members: [PeerID]

    package init(_ name: ContactName, _ members: [PeerID] = []) {
        (self.name, self.members) = (name, members)
    }
}

extension ContactName {
    /// The name of a group, with or without the mark.
    /// - Throws: `ContactError` `unfit`.
    package init(ofGroup text: String) throws(ContactError) {
        try self.init(text.first == ContactGroup.mark ? String(text.dropFirst()) : text, of: "a group")
    }
}

extension ContactSnapshot {
    /// - Parameter text: with or without the mark.
    /// - Throws: `ContactError` `unknownGroup`, `unfit`.
    package func group(named text: String) throws(ContactError) -> ContactGroup {
        let name = try ContactName(ofGroup: text)
        guard let group = groups.first(where: { $0.name == name }) else {
            let near = NearWord.closest(to: name.text, among: groups.map(\.name.text))
            throw ContactError(
                .unknownGroup, "there is no group \(name.text.quoted)\(near.map { "; did you mean \($0)?" } ?? "")")
        }
        return group
    }

    /// - Parameter text: as in `group(named:)`.
    /// - Throws: `ContactError`: `unknownGroup`; `unfit` for a group without members; `unknownContact` for a member that
    ///   is no contact any more.
    package func members(ofGroup text: String) throws(ContactError) -> [Contact] {
        let group = try group(named: text)
        guard !group.members.isEmpty else { throw .unfit("the group \(group.name) has no members") }
        return try group.members.map { id throws(ContactError) in
            guard let contact = self[id] else {
                throw ContactError(
                    .unknownContact, "a member of the group \(group.name) is no contact any more: \(id.short)")
            }
            return contact
        }
    }
}

extension ContactDraft {
    /// Adds contacts to a group, which is made if there is none.
    /// - Throws: `ContactError`: `unknownContact`, `ambiguous`, `unfit`, `full`.
    package mutating func add(_ texts: [String], toGroup text: String) throws(ContactError) -> ContactGroup {
        let name = try ContactName(ofGroup: text)
        var group = groups.first { $0.name == name } ?? ContactGroup(name)
        for text in texts {
            let id = try before.find(text).id
            if !group.members.contains(id) { group.members.append(id) }
        }
        guard group.members.count <= ContactBounds.members else {
            throw ContactError(.full, "a group has at most \(ContactBounds.members) members")
        }
        groups.removeAll { $0.name == group.name }
        groups.append(group)
        guard groups.count <= ContactBounds.groups else {
            throw ContactError(.full, "there are \(ContactBounds.groups) groups; no more can be stored")
        }
        return group
    }

    /// - Parameter texts: contacts, or beginnings of the keys of members that are none any more.
    /// - Throws: `ContactError`: `unknownGroup`, `unknownContact`, `ambiguous`.
    package mutating func remove(_ texts: [String], fromGroup text: String) throws(ContactError) -> ContactGroup {
        var group = try before.group(named: text)
        for text in texts {
            let contact = try? before.find(text).id
            guard let id = contact ?? group.members.first(where: { $0.hasPrefix(text) }), group.members.contains(id)
            else {
                throw ContactError(.unknownContact, "\(text.quoted) is no member of the group \(group.name)")
            }
            group.members.removeAll { $0 == id }
        }
        groups.removeAll { $0.name == group.name }
        groups.append(group)
        return group
    }

    /// Deletes a group; its members stay contacts.
    /// - Throws: `ContactError` `unknownGroup`.
    package mutating func deleteGroup(_ text: String) throws(ContactError) -> ContactGroup {
        let group = try before.group(named: text)
        groups.removeAll { $0.name == group.name }
        return group
    }
}
