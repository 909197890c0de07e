import Lines
import Operations
import Sharing

/// The numbered list of peers and activities, and the answer that is typed. A number never changes its meaning.
struct ShareSheet {
    enum Answer: Equatable {
        /// The whole id of a peer, or an address as it was typed.
        case peer(String)
        /// The type of an activity.
        case activity(String)
        case givenUp
        /// Why the question must be repeated, escaped; empty for an empty line.
        case unclear(String)
    }

    private enum Row {
        case peer(PeerID)
        case activity(Int)
    }

    /// Fewest characters that name an id.
    private static let idLength = 4
    private static let nameWidth = 16
    private static let standingWidth = 9

    private var peers: [PeerID: SharePeers.Peer] = [:]
    /// Of the open list.
    private var absent: Set<PeerID> = []
    private var rows: [Row] = []
    private let activities: [(type: String, title: String)]
    private let takesPeers: Bool
    private(set) var isOpen = false

    /// - Parameters:
    ///   - activities: with their titles, which are not escaped.
    ///   - takesPeers: whether items can be sent at all.
    init(activities: [(type: String, title: String)], takesPeers: Bool) {
        self.activities = activities.map { ($0.type, TerminalText.escaped($0.title, limit: 64)) }
        self.takesPeers = takesPeers
    }

    // MARK: Peers

    /// A peer was found, or the facts about it changed.
    /// - Returns: a new line of the open list; nil if there is none.
    mutating func found(_ peer: SharePeers.Peer) -> String? {
        guard takesPeers else { return nil }
        let known = peers[peer.id]
        var peer = peer
        if let before = known?.person, peer.person.ownName == nil { peer.person = before }
        peers[peer.id] = peer
        guard isOpen else {
            if known == nil { rows.append(.peer(peer.id)) }
            return nil
        }
        if known == nil { rows.append(.peer(peer.id)) }
        let wasAway = absent.remove(peer.id) != nil
        guard known == nil || wasAway || known?.person.name != peer.person.name else { return nil }
        return number(of: peer.id).map { cell($0, peer) }
    }

    /// - Returns: a line about it; nil if there is none.
    mutating func gone(_ id: PeerID) -> String? {
        guard peers[id] != nil, !absent.contains(id) else { return nil }
        guard isOpen else {
            peers[id] = nil
            rows.removeAll { if case .peer(id) = $0 { true } else { false } }
            return nil
        }
        absent.insert(id)
        return peers[id].map { "     \($0.person.name) is gone" }
    }

    private func number(of id: PeerID) -> Int? {
        rows.firstIndex { if case .peer(id) = $0 { true } else { false } }.map { $0 + 1 }
    }

    // MARK: The list

    /// Fixes the numbers of the peers that were found, contacts first, and of the activities.
    /// - Parameter width: columns of the terminal.
    /// - Returns: the lines.
    mutating func open(width: Int) -> [String] {
        isOpen = true
        let found = rows.compactMap { row in if case .peer(let id) = row { peers[id] } else { nil } }
        let ordered = found.filter(\.person.isContact) + found.filter { !$0.person.isContact }
        rows = ordered.map { .peer($0.id) } + activities.indices.map { .activity($0) }
        let left = ordered.enumerated().map { cell($0.offset + 1, $0.element) }
        let right = activities.enumerated().map { cell(ordered.count + $0.offset + 1, $0.element.title) }
        let column = max(5 + Self.nameWidth + Self.standingWidth + 5, (left.map(\.columns).max() ?? 0) + 2)
        let widest = right.map(\.columns).max() ?? 0
        guard !left.isEmpty, column + widest < width else { return left + right }
        return (0..<max(left.count, right.count)).map { index in
            let one = left.indices.contains(index) ? left[index] : ""
            let other = right.indices.contains(index) ? right[index] : ""
            return other.isEmpty ? one : one.padded(to: column, gap: 1) + other
        }
    }

    /// The key tells strangers of the same name apart.
    private func cell(_ number: Int, _ peer: SharePeers.Peer) -> String {
        let (person, key) = (peer.person, peer.person.introduction.key)
        let standing = person.standing
        let rest = [
            person.isContact ? nil : key,
            peer.protocolName.isEmpty ? nil : "(\(TerminalText.escaped(peer.protocolName)))",
        ]
        .compactMap(\.self).joined(separator: "  ")
        return cell(
            number,
            person.name.padded(to: Self.nameWidth, gap: 1)
                + (rest.isEmpty ? standing : standing.padded(to: Self.standingWidth, gap: 1) + rest))
    }

    /// Rows of the open list.
    var count: Int { rows.count }

    /// The row as it is now.
    func line(_ row: Int) -> String {
        switch rows[row] {
        case .activity(let index): return cell(row + 1, activities[index].title)
        case .peer(let id):
            guard let peer = peers[id] else { return "" }
            return absent.contains(id) ? cell(row + 1, "\(peer.person.name) is gone") : cell(row + 1, peer)
        }
    }

    /// Whether the row has a text in its name, its key or its type.
    func has(_ text: String, in row: Int) -> Bool {
        let words: [String] =
            switch rows[row] {
            case .activity(let index): [activities[index].title, activities[index].type]
            case .peer(let id): peers[id].map { [$0.person.name, $0.person.introduction.key ?? ""] } ?? []
            }
        return words.contains { $0.lowercased().contains(text.lowercased()) }
    }

    func isStranger(row: Int) -> Bool {
        if case .peer(let id) = rows[row] { peers[id]?.person.isContact != true } else { false }
    }

    /// Whether a machine has this name, or calls itself so.
    func isName(_ text: String) -> Bool {
        peers.values.contains { TypedName.means(text, $0.person.introduction.name) || $0.person.isNamed(text) }
    }

    private func cell(_ number: Int, _ text: String) -> String {
        String(repeating: " ", count: max(0, 3 - "\(number)".count)) + "\(number)  \(text)"
    }

    // MARK: The answer

    func answer(to line: String) -> Answer {
        if line.isEmpty { return .unclear("") }
        // Its numbers may still change.
        if !isOpen, Int(line) != nil { return .unclear("The list is not shown yet: type the number when it is.") }
        if let number = Int(line), rows.indices.contains(number - 1) { return answer(rows[number - 1]) }
        let typed = line.lowercased()
        // Before the names, which strangers choose as they like.
        if typed == "q" { return .givenUp }
        if let activity = activities.first(where: { $0.type == typed || $0.title.lowercased() == typed }) {
            return .activity(activity.type)
        }
        if takesPeers, Peers.isAddress(line) == true { return .peer(line) }
        let shown = TerminalText.escaped(line, limit: 64)
        let byID = peers.values.filter { typed.count >= Self.idLength && $0.id.text.hasPrefix(typed) }
        let named = peers.values.filter { TypedName.means(line, $0.person.introduction.name) }
        // The name of a contact means the contact, and no other machine of that name.
        if let contact = named.first(where: \.person.isContact) { return answer(.peer(contact.id)) }
        let meant = named.isEmpty ? peers.values.filter { $0.person.isNamed(line) } + byID : named
        if meant.count == 1, let peer = meant.first {
            guard let claimed = peer.person.introduction.claims, claimed.lowercased() == typed else {
                return answer(.peer(peer.id))
            }
            return .unclear(
                "That is not your contact \(shown), which is not in the list: type its number if you mean it")
        }
        if meant.count > 1 { return .unclear("\(meant.count) machines are named \"\(shown)\": type the number") }
        let near = NearWord.closest(to: typed, among: peers.values.compactMap(\.person.word)).map { word in
            "did you mean \(TerminalText.escaped(word, limit: 64))? Otherwise "
        }
        return .unclear(
            "\"\(shown)\" is not in the list: \(near ?? "")type a number or a name of it, an address, or q to give up")
    }

    /// The row that a typed line means; nil for none.
    func row(answering line: String) -> Int? {
        let answer = answer(to: line)
        return rows.indices.first { self.answer(rows[$0]) == answer }
    }

    func answer(row: Int) -> Answer { answer(rows[row]) }

    /// A chosen peer or activity in a sentence; escaped.
    func name(of answer: Answer) -> String {
        switch answer {
        case .peer(let word):
            peers.values.first { $0.id.text == word }?.person.line ?? TerminalText.escaped(word, limit: 64)
        case .activity(let type): activities.first { $0.type == type }?.title ?? type
        case .givenUp, .unclear: ""
        }
    }

    private func answer(_ row: Row) -> Answer {
        switch row {
        case .activity(let index): return .activity(activities[index].type)
        case .peer(let id):
            guard peers[id] != nil, !absent.contains(id) else {
                return .unclear("\(peers[id]?.person.name ?? "it") is gone: choose another, or q to give up")
            }
            return .peer(id.text)
        }
    }
}
