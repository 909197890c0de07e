package import Contacts
package import Sharing

/// Makes a contact of a peer that pairing has verified.
package enum PairedContact {
    /// - Parameters:
    ///   - wanted: the user's name for the peer; nil for its name as a contact, or the name that it gives itself.
    ///   - calledItself: ignored if unfit for a contact's name; a number is added to a name that is taken.
    /// - Throws: `ContactError`: `nameTaken` for a `wanted` one, `blocked`, `full`, `damaged`, `storage`.
    package static func store(
        _ id: PeerID, in book: ContactBook, wanted: ContactName?, calledItself: String?, _ method: Verification.Method
    ) throws(ContactError) -> Contact {
        let now = WallTime.now
        return try book.change { draft throws(ContactError) in
            let before = draft.before
            let name = if let known = wanted ?? before[id]?.name { known } else { try free(calledItself, id, before) }
            return try draft.allow(id, named: name, Verification(method, at: now))
        }
    }

    /// For a time. A contact that is one already stays as it is.
    /// - Throws: `ContactError`: `blocked`, `full`, `damaged`, `storage`.
    package static func remember(
        _ id: PeerID, in book: ContactBook, calledItself: String?, for time: Duration
    ) throws(ContactError) -> Contact {
        let now = WallTime.now
        let ends = WallTime(milliseconds: now.milliseconds + Int64(min(max(time / .seconds(1), 1), longest) * 1_000))
        return try book.change { draft throws(ContactError) in
            if let known = draft.before[id], !known.isBlocked { return known }
            var contact = try draft.allow(
                id, named: try free(calledItself, id, draft.before), Verification(.spokenCode, at: now))
            try draft.set(id) { $0.ends = ends }
            contact.ends = ends
            return contact
        }
    }

    /// Seconds: more is not meant for a time.
    private static let longest = 10 * 366 * 86_400.0

    /// Names with a number that are tried; after that the key is the name.
    private static let numbers = 2...99

    private static func free(
        _ calledItself: String?, _ id: PeerID, _ contacts: ContactSnapshot
    ) throws(ContactError) -> ContactName {
        let fit = calledItself.map { PeerName.fit($0, fallback: "") } ?? ""
        // A name that begins so is a group's.
        let base = String(fit.drop { $0 == ContactGroup.mark || $0 == " " })
        for candidate in [base] + numbers.map({ "\(cut(base)) \($0)" }) {
            guard let name = try? ContactName(candidate) else { break }
            if contacts.contact(named: name.text) == nil { return name }
        }
        return try ContactName(id.short)
    }

    /// With room for a number behind it.
    private static func cut(_ base: String) -> String {
        var base = Substring(base)
        while base.utf8.count > ContactBounds.nameBytes - 3 { base.removeLast() }
        while base.last == " " { base.removeLast() }
        return String(base)
    }
}
