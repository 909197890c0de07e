import Contacts
import Endpoints
import Sending
import Settings
import Sharing

/// Finds the peers for a sheet, and says which are contacts.
struct SharePeers {
    enum Event {
        case found(ShareSheet.Peer)
        case gone(PeerID)
        /// Looking is hampered: one line, escaped.
        case trouble(String)
    }

    private let finder: PeerFinder
    private let people: Acquaintances

    init(_ context: CommandContext) throws(CommandError) {
        finder = try CommandFinder.make(context)
        people = context.people
    }

    /// - Parameter limit: how long to look; nil: until the stream is dropped.
    func events(for limit: Duration?) -> AsyncStream<Event> {
        AsyncStream { continuation in
            let task = Task {
                for await event in finder.peers(for: limit) {
                    switch event {
                    case .found(let peer): continuation.yield(.found(row(peer)))
                    case .gone(let id): continuation.yield(.gone(id))
                    case .trouble(let reason): continuation.yield(.trouble(TerminalText.escaped(reason, limit: 400)))
                    case .away: break
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// All that a short look finds; contacts first.
    func found(within limit: Duration) async -> [ShareSheet.Peer] {
        var peers: [ShareSheet.Peer] = []
        for await event in events(for: limit) {
            switch event {
            case .found(let peer):
                peers.removeAll { $0.id == peer.id }
                peers.append(peer)
            case .gone(let id): peers.removeAll { $0.id == id }
            case .trouble(let reason): Console.shared.note("waft: \(reason)")
            }
        }
        return peers.filter { $0.kind == ShareSheet.contact } + peers.filter { $0.kind != ShareSheet.contact }
    }

    private func row(_ peer: FoundPeer) -> ShareSheet.Peer {
        let introduction = people.introduction(of: peer.id, callingItself: peer.card?.name ?? "")
        if introduction.isContact {
            return ShareSheet.Peer(
                id: peer.id, name: TerminalText.escaped(introduction.name, limit: 64), kind: ShareSheet.contact)
        }
        return ShareSheet.Peer(
            id: peer.id, name: peer.card.map { TerminalText.peerName($0.name) },
            kind: peer.dialect.provesKeys ? ShareSheet.stranger : peer.dialect.title)
    }
}
