package import Contacts
import Endpoints
import Inbox
package import Lines
import Settings
import Sharing

extension Waft {
    /// The peers whose keys the user has verified and named.
    package var contacts: AddressBook { AddressBook(self) }
}

/// The contacts, and the blocked peers. A running receiver is told of each change.
package struct AddressBook: Sendable {
    let waft: Waft
    let book: ContactBook

    fileprivate init(_ waft: Waft) {
        self.waft = waft
        book = waft.home.contactBook(restored: waft.warn)
    }

    /// - Throws: `WaftError`.
    package func list() throws(WaftError) -> (contacts: [ContactLine], blocked: [BlockedStrangerLine]) {
        let snapshot = try snapshot()
        return (snapshot.contacts.map { line($0) }, snapshot.blockedStrangers.map { BlockedStrangerLine($0) })
    }

    /// - Parameter text: the name of the contact, or the beginning of its key's id.
    /// - Throws: `WaftError`: `inputMissing` for no contact, `usage` for several.
    package func show(_ text: String) throws(WaftError) -> ContactLine {
        let snapshot = try snapshot()
        let contact = try Self.doing { () throws(ContactError) in try snapshot.find(text) }
        let day = contact.limits.sizePerDay.map { _ in Day(until: waft.now()) }
        return line(contact, received: day.flatMap { try? waft.amounts.received(from: .peer(contact.id), on: $0) })
    }

    /// This peer itself. Makes its key if there is none.
    /// - Throws: `WaftError`.
    package func me() throws(WaftError) -> MeLine { MeLine(name: waft.settings.name, try waft.ownID()) }

    /// The sender of an offer that waits, before its key becomes a contact's.
    /// - Returns: the offer, the name of its protocol for people, and the whole id of the key.
    /// - Throws: `WaftError`: `notRunning`, `inputMissing` for no offer, `usage` for a sender that has proved no key.
    package func sender(
        ofOffer number: Int
    ) async throws(WaftError) -> (offer: OfferLine, dialect: String, key: String) {
        let offer = try await waft.offers.offer(number)
        let title = offer.via.map { DialectTable.known[$0].title } ?? "an unknown protocol"
        guard let key = offer.from.id else {
            throw WaftError(
                .usage, "the sender of offer \(number) came by \(title) and proved no key: it stays a stranger")
        }
        return (offer, title, key)
    }

    /// Makes contacts of peers: of all, or of none. One that is a contact already only gets the terms.
    /// - Throws: `WaftError`: `usage` for a name or key that cannot be used, and for a blocked peer.
    package func allow(_ wanted: [NewContact], _ terms: ContactTerms) async throws(WaftError) -> [ContactLine] {
        try checkKeys(for: terms)
        let own = try? waft.ownID()
        if let mistaken = wanted.first(where: { $0.id == own }) {
            throw mistaken.failure("this is the key of this machine itself; the id of the other one is needed")
        }
        let now = waft.now()
        var current: NewContact?
        var refusal: WaftError?
        do throws(ContactError) {
            try book.change { draft throws(ContactError) in
                refusal = Self.misnamed(wanted, draft.before)
                guard refusal == nil else { return }
                for contact in wanted {
                    current = contact
                    let known = draft.before[contact.id]
                    // A contact that was verified in a better way stays so.
                    if known == nil || known?.isBlocked == true || known?.ends != nil {
                        try draft.allow(contact.id, named: contact.name, Verification(contact.method, at: now))
                    }
                    try draft.set(contact.id) { terms.apply(to: &$0) }
                }
            }
        } catch {
            throw WaftError(error).at(current?.place)
        }
        if let refusal { throw refusal }
        let snapshot = try snapshot()
        await waft.lookAgain()
        return wanted.compactMap { snapshot[$0.id] }.map { line($0) }
    }

    /// A failure if a key is known already by another name, or stands in the list twice with different names.
    private static func misnamed(_ wanted: [NewContact], _ before: ContactSnapshot) -> WaftError? {
        var names: [PeerID: ContactName] = [:]
        for new in wanted {
            if let contact = before[new.id], contact.name != new.name {
                return new.failure(
                    "this key already belongs to your contact \(contact.name)",
                    hint: "to rename it: waft contacts rename \(contact.name.shellWord) NEW")
            }
            if let other = names.updateValue(new.name, forKey: new.id), other != new.name {
                return new.failure("the key is listed twice, also with the name \(other)")
            }
        }
        return nil
    }

    /// - Parameter text: as in `show`.
    /// - Throws: `WaftError`, as `show`.
    package func set(_ text: String, _ terms: ContactTerms) async throws(WaftError) -> ContactLine {
        try checkKeys(for: terms)
        let contact = try Self.doing { () throws(ContactError) in try book.set(text) { terms.apply(to: &$0) } }
        return try await changed(contact)
    }

    /// Nothing of a contact could be sealed without keys.
    private func checkKeys(for terms: ContactTerms) throws(WaftError) {
        guard terms.isSealed else { return }
        do {
            if try ItemKeys.areThere(in: waft.home.protection) { return }
        } catch {
            throw WaftError(.unexpected, error.description)
        }
        throw WaftError(
            .usage, "data protection is not set up", hint: "set it up with: waft protection set-up")
    }

    /// - Parameter text: as in `show`.
    /// - Returns: also the name before, and the rules of the settings that go by it: they are the user's to write.
    /// - Throws: `WaftError`, as `show`; `usage` for a name that cannot be used.
    package func rename(
        _ text: String, to new: String
    ) async throws(WaftError) -> (contact: ContactLine, former: String, rules: [(rule: Int, name: String)]) {
        let new = try ContactName(user: new)
        let former = try Self.doing { () throws(ContactError) in try book.rename(text, to: new) }
        let contact = try await changed(former)
        let named = waft.settings.policy.unknownContacts(in: try snapshot())
        let rules = named.filter { $0.name == former.name && $0.name != new }
        return (contact, former.name.text, rules.map { ($0.rule, $0.name.text) })
    }

    /// - Parameter text: as in `show`.
    /// - Throws: `WaftError`, as `show`.
    package func forget(_ text: String) async throws(WaftError) -> RelationLine {
        let now = waft.now()
        let contact = try Self.doing { () throws(ContactError) in try book.forget(text, at: now) }
        await waft.lookAgain()
        return RelationLine(.forgotten, contact.id, contact, isBlocked: contact.isBlocked)
    }

    /// Declines all offers of a peer from now on.
    /// - Parameter text: as in `show`, or the whole id of any peer's key.
    /// - Throws: `WaftError` `usage` for no or several peers, or for this peer itself.
    package func block(_ text: String) async throws(WaftError) -> RelationLine {
        let snapshot = try snapshot()
        let peer = try PeerID.known(text, in: snapshot)
        if let own = try? waft.ownID(), own == peer {
            throw WaftError(.usage, "this is the key of this machine itself")
        }
        let now = waft.now()
        try Self.doing { () throws(ContactError) in try book.block(peer, callingItself: "", at: now) }
        await waft.lookAgain()
        return RelationLine(.blocked, peer, snapshot[peer], isBlocked: true)
    }

    /// - Parameter text: as in `block`.
    /// - Throws: `WaftError` `usage` for no or several peers, or for one that is not blocked.
    package func unblock(_ text: String) async throws(WaftError) -> RelationLine {
        let snapshot = try snapshot()
        let peer = try PeerID.known(text, in: snapshot)
        guard try Self.doing({ () throws(ContactError) in try book.unblock(peer) }) else {
            let name = snapshot[peer]?.name.text ?? "the peer \(peer.short)"
            throw WaftError(.usage, "\(name) is not blocked", hint: "see: waft contacts")
        }
        await waft.lookAgain()
        return RelationLine(.unblocked, peer, snapshot[peer], isBlocked: false)
    }

    private func changed(_ before: Contact) async throws(WaftError) -> ContactLine {
        guard let contact = try snapshot()[before.id] else {
            throw WaftError(.unexpected, "the contact was forgotten meanwhile")
        }
        await waft.lookAgain()
        return line(contact)
    }

    private func line(_ contact: Contact, received: UInt64? = nil) -> ContactLine {
        ContactLine(contact, at: waft.now(), received: received)
    }

    func snapshot() throws(WaftError) -> ContactSnapshot {
        try Self.doing { () throws(ContactError) in try book.snapshot() }
    }

    static func doing<Value>(_ body: () throws(ContactError) -> Value) throws(WaftError) -> Value {
        do throws(ContactError) { return try body() } catch { throw WaftError(error) }
    }
}

extension WaftError {
    package init(_ error: ContactError, hint: String? = nil) {
        let code: WaftExit =
            switch error.code {
            case .unknownContact, .unknownGroup: .inputMissing
            case .ambiguous, .unfit, .nameTaken, .blocked: .usage
            case .full, .damaged, .storage: .unexpected
            }
        let hint =
            hint
            ?? (error.code == .unknownContact
                ? "see: waft contacts" : error.code == .unknownGroup ? "see: waft contacts group" : nil)
        self.init(code, error.description, hint: hint)
    }
}
