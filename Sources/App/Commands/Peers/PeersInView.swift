import Peer
import Sharing

/// Who was seen while peers were looked for, in the order in which they came, each once however often it is heard of.
struct PeersInView {
    /// Peers that are listed in one line: anybody on the link can announce thousands.
    static let listed = 20

    private var order: [PeerID] = []
    private var names: [PeerID: String?] = [:]

    /// What a peer calls itself is news each time; its place is not.
    /// - Parameter name: nil where it does not tell.
    /// - Returns: whether it was not in view before.
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

    /// For people: what each can be named by after `--to`, its id where the name is not enough.
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
