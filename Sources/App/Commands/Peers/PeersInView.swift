import Endpoints
import Settings
import Sharing

/// The peers that a search has found, in the order of their first sighting, each once.
struct PeersInView {
    /// Peers that are listed in one line: a stranger on the link can announce thousands.
    static let listed = 20

    private var order: [PeerID] = []
    private var names: [PeerID: String?] = [:]

    /// Updates the name of a peer at each call; a known peer keeps its place.
    /// - Parameter name: nil if the peer does not tell it.
    /// - Returns: whether the peer was not in view before.
    @discardableResult
    mutating func found(_ id: PeerID, name: String?) -> Bool {
        let isNew = names.updateValue(name, forKey: id) == nil
        if isNew { order.append(id) }
        return isNew
    }

    mutating func gone(_ id: PeerID) {
        guard names.removeValue(forKey: id) != nil else { return }
        order.removeAll { $0 == id }
    }

    /// For people: a word for each peer that `--to` takes: its name, or its id if the name is not enough.
    var text: String {
        if order.isEmpty { return "no machine is in view" }
        let shown = order.prefix(Self.listed).map { id in
            guard let name = names[id] ?? nil else { return id.short }
            let isShared = names.values.count { $0 == name } > 1
            return TerminalText.escaped(name, limit: 64) + (isShared ? " (\(id.short))" : "")
        }
        let more = order.count - shown.count
        return "in view: " + shown.joined(separator: ", ") + (more > 0 ? ", and \(more) more" : "")
    }
}
