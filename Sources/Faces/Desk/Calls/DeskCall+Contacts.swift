import Lines
import Operations

extension DeskCall {
    private struct OneContact: Decodable, Sendable {
        /// Its name, or the beginning of its id.
        var contact: String
    }

    private struct Renaming: Decodable, Sendable {
        var contact: String
        var name: String
    }

    private struct Befriending: Decodable, Sendable {
        var offer: Int
        var name: String
    }

    private struct Limiting: Decodable, Sendable {
        var contact: String
        var policy: ContactTerms.Answer?
        var types: [String]?
        var sizeAtMost, sizePerDay, itemsAtMost, hours, lasting, folder: String?

        /// - Throws: `WaftError` for a value that cannot be used.
        func terms(_ waft: Waft) throws(WaftError) -> ContactTerms {
            var terms = ContactTerms(policy: policy)
            if let types { try terms.read(.types, types, on: waft) }
            let rest: [(ContactTerms.Term, String?)] = [
                (.sizeAtMost, sizeAtMost), (.sizePerDay, sizePerDay), (.itemsAtMost, itemsAtMost), (.hours, hours),
                (.until, lasting), (.folder, folder),
            ]
            for case (let term, let text?) in rest { try terms.read(term, [text], on: waft) }
            return terms
        }
    }

    static let contacts: [String: DeskCall] = [
        "contacts": .lines { (_: Nothing, waft) in
            let (contacts, blocked) = try waft.contacts.list()
            return try contacts + blocked + waft.contacts.groups()
        },
        "contacts/me": .lines { (_: Nothing, waft) in [try waft.contacts.me()] },
        "contacts/allow": .lines { (wanted: Befriending, waft) in
            let key = try await waft.contacts.sender(ofOffer: wanted.offer).key
            return try await waft.contacts.allow(
                [try NewContact(key, name: wanted.name, isOfOffer: true)], ContactTerms())
        },
        "contacts/set": .lines { (wanted: Limiting, waft) in
            [try await waft.contacts.set(wanted.contact, wanted.terms(waft))]
        },
        "contacts/rename": .lines { (wanted: Renaming, waft) in
            [try await waft.contacts.rename(wanted.contact, to: wanted.name).contact]
        },
        "contacts/forget": .lines { (one: OneContact, waft) in [try await waft.contacts.forget(one.contact)] },
        "contacts/block": .lines { (one: OneContact, waft) in [try await waft.contacts.block(one.contact)] },
        "contacts/unblock": .lines { (one: OneContact, waft) in [try await waft.contacts.unblock(one.contact)] },
        "pair": DeskCall { (wanted: PairingWish, desk) in
            try await desk.questions.asking(desk) { answers in try await wanted.pair(desk, answers) }
        },
    ]
}

/// The wish of a window to pair.
private struct PairingWish: Decodable, Sendable {
    /// Nil to wait for a peer.
    var peer: String?
    /// The code that the other side shows; nil where people compare.
    var code: String?
    /// Whether this side shows a code, when it waits.
    var byCode: Bool?
    /// For the contact here; nil for the name that the peer gives itself.
    var name: String?

    private static let finding: Duration = .seconds(5)
    private static let waiting: Duration = .seconds(600)

    func pair(_ desk: DeskWork, _ answers: AsyncStream<String>) async throws -> WaftExit {
        let (name, peer) = (try name.map(Pairings.name), try peer.map(Pairings.peer))
        let code = try code.map(Pairings.code)
        return try await desk.showing { show in
            let user = Pairings.User { step in
                switch step {
                case .open(let line, own: _): show(line)
                case .peer(let line): show(line)
                case .compare(let line): show(line)
                case .confirmed, .left: break
                }
            } says: {
                for await answer in answers { return answer == "y" }
                return nil
            }
            let line =
                if let peer {
                    try await desk.host.strict().pairing.begin(
                        with: peer, code: code, name: name, finding: Self.finding, user)
                } else {
                    try await desk.waft().pairing.accept(
                        byCode: byCode == true, name: name, for: Self.waiting, user)
                }
            show(line)
            return .done
        }
    }
}
