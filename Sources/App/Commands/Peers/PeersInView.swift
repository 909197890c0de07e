import Lines
import Sharing

/// The peers that a search has found, for a line of text.
struct PeersInView {
    /// Peers that are listed in one line: a stranger on the link can announce thousands.
    static let listed = 20

    private let peers: [Person]

    /// - Parameter peers: each once, contacts first.
    init(_ peers: [Person]) {
        self.peers = peers
    }

    /// For people: a word for each peer that `--to` takes: its name, or its id if the name is not enough.
    var text: String {
        if peers.isEmpty { return "no machine is in view" }
        let shown = peers.prefix(Self.listed).map { peer in
            if peer.isContact { return "\(peer.name) \(Glyph.check)" }
            guard let name = peer.word else {
                return peer.id.short + (peer.introduction.claims == nil ? "" : " (\(peer.standing))")
            }
            let isShared = peers.count { $0.word == name } > 1
            return TerminalText.escaped(name, limit: 64) + (isShared ? " (\(peer.id.short))" : "")
        }
        let more = peers.count - shown.count
        return "in view: " + shown.joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
    }
}
