import Lines
import Operations
import Sharing

/// The lines of `waft peers`: contacts first, then each peer as it appears.
struct PeersList: Sendable {
    /// With `--watch` the first lines are printed after this time.
    static let firstLook: Duration = .seconds(1)

    let isWatched: Bool
    let output: OutputOptions
    /// Says that this machine is in no network; nil if it is in one.
    let networkNote: @Sendable () -> String?

    enum Input: Sendable {
        case news(Peers.News)
        /// The first look is over: from now on a line is printed at once.
        case open
        case end
    }

    /// A line of the list.
    private struct Key: Hashable {
        var id: PeerID
        /// The user's name for a remembered peer.
        var remembered: String?
    }

    /// The facts that people see change.
    private struct Facts: Equatable {
        var name: String?
        var device: String?
    }

    /// Prints until the end of the inputs, or until the task is cancelled.
    func show(_ inputs: AsyncStream<Input>) async {
        var shown: [Key: Facts] = [:]
        // The peers of the first look, each once and with its latest facts; then nil.
        var first: [(key: Key, peer: FoundLine, person: Person)]? = output.json ? nil : []
        var isEmpty = true
        for await input in inputs {
            switch input {
            case .news(.found(let peer, let person)):
                // Its addresses become known one by one. Programs that watch see each change, people do not.
                let key = Key(id: person.id, remembered: peer.rememberedAs)
                let facts = Facts(name: peer.name, device: peer.device)
                let isChange = isWatched && output.json && peer.rememberedAs == nil
                guard shown[key] != facts || isChange else { continue }
                shown[key] = facts
                isEmpty = false
                guard first != nil else {
                    output.show(peer, as: [Self.line(peer, person)])
                    continue
                }
                first?.removeAll { $0.key == key }
                first?.append((key, peer, person))
            case .news(.lost(let peer, let id)):
                shown[Key(id: id)] = nil
                if first != nil {
                    first?.removeAll { $0.key == Key(id: id) }
                } else if isWatched {
                    output.show(peer, as: ["\(id.short) is gone"])
                }
            case .news(.away(let peer)):
                shown = shown.filter { $0.key.remembered != peer.name }
                isEmpty = false
                output.show(peer)
            case .news(.trouble(let reason)):
                Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
            case .open, .end:
                show(first?.map { ($0.peer, $0.person) } ?? [])
                first = nil
                guard case .end = input else { continue }
                if isEmpty, !isWatched, !output.json {
                    Console.shared.note(networkNote().map { "waft: \($0)" } ?? Self.nobody)
                }
                return
            }
        }
        // After Ctrl-C: the peers that were found until now.
        show(first?.map { ($0.peer, $0.person) } ?? [])
    }

    private static let nobody =
        "no machine found; does waftd or waft receive run on the other machine, and does the firewall allow mDNS? To find the "
        + "cause: waft doctor"

    /// Each peer once: one that the search finds too stands at its remembered address.
    static func once(_ peers: [(FoundLine, Person)]) -> [(FoundLine, Person)] {
        let remembered = Set(peers.filter { $0.0.rememberedAs != nil }.map(\.1.id))
        return peers.filter { $0.0.rememberedAs != nil || !remembered.contains($0.1.id) }
    }

    private func show(_ peers: [(FoundLine, Person)]) {
        let all = Self.once(peers)
        let width = all.map(\.1.standing.columns).max() ?? 0
        for isContact in [true, false] {
            for (peer, person) in all where person.isContact == isContact {
                output.show(peer, as: [Self.line(peer, person, width)])
            }
        }
    }

    /// `kitchen  contact  k7qf-9m2c-x4ap-t0zd  192.168.1.7:9238`.
    /// - Parameter width: columns of its standing, of the longest in the list.
    static func line(_ peer: FoundLine, _ person: Person, _ width: Int = 0) -> String {
        let address = peer.addresses.first.map { TerminalText.escaped($0) } ?? ""
        // A stranger without a key has the protocol beside its name already.
        let via = peer.provesKeys || person.id.unprovenBy != nil ? "" : "  (\(peer.via))"
        let own = peer.rememberedAs.map { "  (remembered as \(TerminalText.escaped($0)): present)" } ?? ""
        let standing = person.standing.padded(to: max(width + 1, 9), gap: 1)
        return "\(person.name.padded(to: nameWidth, gap: 1))\(standing) \(person.id.short)  \(address)\(via)\(own)"
    }

    fileprivate static let nameWidth = 24
}

extension AwayLine: WordedLine {
    var words: [String] {
        let (name, address) = (TerminalText.escaped(name), TerminalText.escaped(addresses.joined()))
        return ["\(name.padded(to: PeersList.nameWidth, gap: 1))absent     \(address)  (remembered)"]
    }
}

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
