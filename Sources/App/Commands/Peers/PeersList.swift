import Endpoints
import Lines
import Operations
import Sending
import Sharing
import Streams

/// The lines of `waft peers`: contacts first, then each peer as it appears.
struct PeersList: Sendable {
    /// With `--watch` the first lines are printed after this time.
    static let firstLook: Duration = .seconds(1)

    let isWatched: Bool
    let json: Bool
    let people: Acquaintances
    /// Says that this machine is in no network; nil if it is in one.
    let networkNote: @Sendable () -> String?

    enum Input: Sendable {
        case event(PeerEvent)
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

    /// Prints until the end of the inputs, or until the task is cancelled.
    func show(_ inputs: Mailbox<Input>) async {
        var shown: [Key: Card?] = [:]
        // The peers of the first look, each once and with its latest facts; then nil.
        var first: [(key: Key, peer: FoundPeer)]? = json ? nil : []
        var isEmpty = true
        for await input in inputs {
            switch input {
            case .event(.found(let peer)):
                // Its addresses become known one by one. Programs that watch see each change, people do not.
                let key = Key(id: peer.id, remembered: peer.remembered)
                let isChange = isWatched && json && peer.remembered == nil
                guard shown[key] != .some(peer.card) || isChange else { continue }
                shown[key] = .some(peer.card)
                isEmpty = false
                guard first != nil else {
                    show(peer)
                    continue
                }
                first?.removeAll { $0.key == key }
                first?.append((key, peer))
            case .event(.gone(let id)):
                shown[Key(id: id)] = nil
                if first != nil {
                    first?.removeAll { $0.key == Key(id: id) }
                } else if isWatched {
                    gone(id)
                }
            case .event(.away(let name, let address, let reason)):
                shown = shown.filter { $0.key.remembered != name }
                isEmpty = false
                away(name, address, reason)
            case .event(.trouble(let reason)):
                Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
            case .open, .end:
                show(first ?? [])
                first = nil
                guard case .end = input else { continue }
                if isEmpty, !isWatched, !json {
                    Console.shared.note(networkNote().map { "waft: \($0)" } ?? Self.nobody)
                }
                return
            }
        }
        // After Ctrl-C: the peers that were found until now.
        show(first ?? [])
    }

    private static let nobody =
        "no machine found; does waftd or waft receive run on the other machine, and does the firewall allow mDNS? To find the "
        + "cause: waft doctor"

    // MARK: Lines

    /// Each peer once: one that the search finds too stands at its remembered address.
    static func once(_ peers: [FoundPeer]) -> [FoundPeer] {
        let remembered = Set(peers.filter { $0.remembered != nil }.map(\.id))
        return peers.filter { $0.remembered != nil || !remembered.contains($0.id) }
    }

    private func show(_ peers: [(key: Key, peer: FoundPeer)]) {
        let all = Self.once(peers.map(\.peer)).map { ($0, people.person($0.id, callingItself: $0.card?.name)) }
        let width = all.map(\.1.standing.columns).max() ?? 0
        for isContact in [true, false] {
            for (peer, person) in all where person.isContact == isContact {
                Console.shared.result(Self.line(peer, person, width))
            }
        }
    }

    private func show(_ peer: FoundPeer) {
        let person = people.person(peer.id, callingItself: peer.card?.name)
        if json { return EventLine.found(EventLine.Found(peer, person)).print() }
        Console.shared.result(Self.line(peer, person))
    }

    /// `kitchen  contact  k7qf-9m2c-x4ap-t0zd  192.168.1.7:9238`.
    /// - Parameter width: columns of its standing, of the longest in the list.
    static func line(_ peer: FoundPeer, _ person: Person, _ width: Int = 0) -> String {
        let address = peer.target.addressTexts.first.map { TerminalText.escaped($0) } ?? ""
        // A stranger without a key has the protocol beside its name already.
        let via = peer.dialect.provesKeys || peer.id.unprovenBy != nil ? "" : "  (\(peer.dialect.name))"
        let own = peer.remembered.map { "  (remembered as \(TerminalText.escaped($0)): present)" } ?? ""
        let standing = person.standing.padded(to: max(width + 1, 9), gap: 1)
        return "\(person.name.padded(to: nameWidth, gap: 1))\(standing) \(peer.id.short)  \(address)\(via)\(own)"
    }

    private func away(_ name: String, _ address: String, _ reason: String) {
        if json { return EventLine.away(EventLine.Away(name: name, address: address, reason: reason)).print() }
        let (name, address) = (TerminalText.escaped(name), TerminalText.escaped(address))
        Console.shared.result("\(name.padded(to: Self.nameWidth, gap: 1))absent     \(address)  (remembered)")
    }

    private static let nameWidth = 24

    private func gone(_ id: PeerID) {
        if json { return EventLine.lost(EventLine.Lost(id)).print() }
        Console.shared.result("\(id.short) is gone")
    }
}
