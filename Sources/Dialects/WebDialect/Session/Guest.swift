import Sharing

/// A browser, or a program such as curl, that has shown the secret or the PIN.
struct Guest: Sendable, Hashable {
    /// The value of its cookie; of a program without cookies, made from its address.
    let token: String

    /// No key is proved: the id is for this session alone.
    var peer: PeerID { .unproven(.web, seed: Array(token.utf8)) }

    func visitor(from visit: Visit) -> Visitor {
        var origin = visit.visitor.origin
        origin.program = visit.program
        return Visitor(peer, at: visit.visitor.address, origin: origin)
    }
}
