import Endpoints
import Sending
import Settings
import Sharing

/// The peers that a person chooses from, and the answer that is typed.
struct PeerChoice {
    enum Answer: Equatable {
        /// The whole id of a peer in the list, or an address as it was typed.
        case chosen(String)
        case givenUp
        /// Why the question must be repeated, escaped; empty for an empty line.
        case unclear(String)
    }

    static let question = "Send to (number, name or address; q to give up): "
    /// The advice if no peer is found for a while.
    static let advice =
        "No machine found yet. On the other machine run waft receive or, if waftd runs there, waft visible everyone. You can "
        + "also type an address, such as 192.168.1.7."

    /// Fewest characters that name an id.
    private static let idLength = 4

    private var peers: [(id: PeerID, name: String?)] = []

    var isEmpty: Bool { peers.isEmpty }

    /// - Parameter name: nil if the peer does not tell it.
    /// - Returns: the peer's number in the list; nil if it was in it before, by this name.
    mutating func found(_ id: PeerID, name: String?) -> Int? {
        if let index = peers.firstIndex(where: { $0.id == id }) {
            guard let name, name != peers[index].name else { return nil }
            peers[index].name = name
            return index + 1
        }
        peers.append((id, name))
        return peers.count
    }

    func answer(to line: String) -> Answer {
        if line.isEmpty { return .unclear("") }
        if let number = Int(line), peers.indices.contains(number - 1) { return .chosen(peers[number - 1].id.text) }
        let typed = line.lowercased()
        // Before the names, which strangers choose as they like.
        if typed == "q" { return .givenUp }
        if case .address = try? PeerReference(line) { return .chosen(line) }
        let meant = peers.filter { id, name in
            name?.lowercased() == typed || typed.count >= Self.idLength && id.text.hasPrefix(typed)
        }
        if meant.count == 1 { return .chosen(meant[0].id.text) }
        let shown = TerminalText.escaped(line, limit: 64)
        if meant.count > 1 { return .unclear("\(meant.count) machines are named \"\(shown)\": type the number") }
        return .unclear("\"\(shown)\" is not in the list: type a number or a name of it, an address, or q")
    }
}
