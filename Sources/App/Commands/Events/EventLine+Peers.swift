import Endpoints
import Lines
import Sending
import Sharing

/// Lines of `waft peers`. A peer has an `id`, the whole id of its key. A peer that proves no key has a `handle`, its name
/// while it is in view.
extension EventLine {
    struct Found: Encodable {
        private let id: String?
        private let handle: String?
        /// The name that the peer gives itself.
        let name: String?
        /// The user's own name for a contact.
        let contact: String?
        /// Of a stranger that has a contact's name: the user's own name for that contact.
        let claims: String?
        let device: String?
        /// The dialect of the peer: `waft` and others.
        let via: String
        let addresses: [String]
        /// The user's name for the address at which the peer was asked.
        let rememberedAs: String?

        init(_ peer: FoundPeer, _ person: Person) {
            (contact, claims) = (person.introduction.contact, person.introduction.claims)
            rememberedAs = peer.remembered
            (id, handle) = (peer.id.provenText, peer.id.handle)
            (name, device) = (peer.card?.name, peer.card?.device)
            (via, addresses) = (peer.dialect.name, peer.target.addressTexts)
        }
    }

    /// A remembered peer that does not answer.
    struct Away: Encodable {
        let name: String
        let addresses: [String]
        let reason: String

        init(name: String, address: String, reason: String) {
            (self.name, addresses, self.reason) = (name, [address], reason)
        }
    }

    struct Lost: Encodable {
        private let id: String?
        private let handle: String?

        init(_ id: PeerID) {
            (self.id, handle) = (id.provenText, id.handle)
        }
    }
}

extension PeerID {
    fileprivate var handle: String? { provenText == nil ? text : nil }
}
