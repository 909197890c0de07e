import Sharing

/// A browser, or a program such as curl, that has shown the secret or the PIN.
struct Guest: Sendable, Hashable {
    /// The value of its cookie; of a program without cookies, made from its address.
    let token: String

    /// No key is proved: the id is for this session alone.
    var peer: PeerID { .unproven(.web, seed: Array(token.utf8)) }

    func visitor(at address: AddressKey?) -> Visitor { Visitor(peer, at: address) }
}
