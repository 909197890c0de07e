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

    /// Names with a number that are tried; after that the key is the name.
    private static let numbers = 2...99

    private static func free(
        _ calledItself: String?, _ id: PeerID, _ contacts: ContactSnapshot
    ) throws(ContactError) -> ContactName {
        let base = calledItself.map { PeerName.fit($0, fallback: "") } ?? ""
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
