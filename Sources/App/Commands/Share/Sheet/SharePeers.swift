import Contacts
import Endpoints
import Lines
import Operations
import Sending
import Settings
import Sharing

/// Finds the peers for a list that the user chooses from, and introduces them.
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
        self.init(try CommandFinder.make(context), context.people)
    }

    init(_ finder: PeerFinder, _ people: Acquaintances) {
        (self.finder, self.people) = (finder, people)
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
    /// - Parameter isQuiet: whether a hampered search says nothing.
    func found(within limit: Duration, isQuiet: Bool = false) async -> [ShareSheet.Peer] {
        var peers: [ShareSheet.Peer] = []
        for await event in events(for: limit) {
            switch event {
            case .found(let peer):
                peers.removeAll { $0.id == peer.id }
                peers.append(peer)
            case .gone(let id): peers.removeAll { $0.id == id }
            case .trouble where isQuiet: break
            case .trouble(let reason): Console.shared.note("waft: \(reason)")
            }
        }
        return peers.filter(\.person.isContact) + peers.filter { !$0.person.isContact }
    }

    private func row(_ peer: FoundPeer) -> ShareSheet.Peer {
        ShareSheet.Peer(
            person: people.person(peer.id, callingItself: peer.card?.name),
            // A stranger without a key has the protocol beside its name already.
            protocolName: peer.dialect.provesKeys || peer.id.unprovenBy != nil ? "" : peer.dialect.title)
    }
}
