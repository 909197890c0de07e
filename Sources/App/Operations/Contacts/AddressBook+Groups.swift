import Contacts
package import Lines
import Sharing

// Groups: contacts to which the user sends together.

extension AddressBook {
    /// - Throws: `WaftError`.
    package func groups() throws(WaftError) -> [GroupLine] {
        let snapshot = try snapshot()
        return snapshot.groups.map { GroupLine($0, in: snapshot) }
    }

    /// - Parameter name: with or without `@`, here and below.
    /// - Throws: `WaftError`: `inputMissing` for no group, here and below.
    package func group(_ name: String) throws(WaftError) -> GroupLine {
        let snapshot = try snapshot()
        return GroupLine(
            try Self.doing { () throws(ContactError) in try snapshot.group(named: name) }, in: snapshot)
    }

    /// Makes the group if there is none.
    /// - Parameter contacts: names, or beginnings of the ids of their keys.
    /// - Throws: `WaftError`: `inputMissing` for no contact, `usage` for several or for a name that cannot be used.
    package func add(_ contacts: [String], toGroup name: String) async throws(WaftError) -> GroupLine {
        try await changed { draft throws(ContactError) in try draft.add(contacts, toGroup: name) }
    }

    /// - Parameter members: as in `add`; the beginning of an id for one that is no contact any more.
    /// - Throws: `WaftError` `inputMissing` for no member.
    package func remove(_ members: [String], fromGroup name: String) async throws(WaftError) -> GroupLine {
        try await changed { draft throws(ContactError) in try draft.remove(members, fromGroup: name) }
    }

    /// - Throws: `WaftError`.
    package func deleteGroup(_ name: String) async throws(WaftError) -> GroupLine {
        var line = try await changed { draft throws(ContactError) in try draft.deleteGroup(name) }
        line.deleted = true
        return line
    }

    /// Peers as they were named, with the members in place of each group, and each contact once.
    /// - Throws: `WaftError`: `inputMissing` for no group, and for a member that is no contact any more; `usage` for a
    ///   group without members.
    package func recipients(_ names: [String]) throws(WaftError) -> [String] {
        guard names.contains(where: { $0.first == ContactGroup.mark }) else { return names }
        let snapshot = try snapshot()
        var known: Set<PeerID> = []
        var recipients: [String] = []
        for name in names {
            guard name.first == ContactGroup.mark else {
                if let contact = snapshot.contact(named: name), !known.insert(contact.id).inserted { continue }
                recipients.append(name)
                continue
            }
            let members = try Self.doing { () throws(ContactError) in try snapshot.members(ofGroup: name) }
            for member in members where known.insert(member.id).inserted { recipients.append(member.id.text) }
        }
        return recipients
    }

    private func changed(
        _ change: (inout ContactDraft) throws(ContactError) -> ContactGroup
    ) async throws(WaftError) -> GroupLine {
        let group = try Self.doing { () throws(ContactError) in try book.change(change) }
        await waft.lookAgain()
        return GroupLine(group, in: try snapshot())
    }
}
