import Endpoints
package import Lines
import Sending
package import Sharing

/// Finds the peers for a list that the user chooses from, and introduces them.
package struct SharePeers: Sendable {
    package struct Peer: Sendable {
        package var person: Person
        /// The protocol of a peer that does not speak Waft's own; empty otherwise.
        package let protocolName: String

        package init(person: Person, protocolName: String = "") {
            (self.person, self.protocolName) = (person, protocolName)
        }

        package var id: PeerID { person.id }
        /// Whether there is a name for it to choose it by.
        package var isNamed: Bool { !person.introduction.name.isEmpty }
    }

    package enum Event: Sendable {
        case found(Peer)
        case gone(PeerID)
        /// Looking is hampered: one line, not escaped.
        case trouble(String)
    }

    let finder: PeerFinder
    private let people: KnownPeers

    init(_ finder: PeerFinder, _ people: KnownPeers) {
        (self.finder, self.people) = (finder, people)
    }

    /// - Throws: `WaftError` if nothing can be looked for.
    package init(_ waft: Waft) throws(WaftError) { self.init(try waft.finder(), waft.people) }

    /// - Parameter limit: how long to look; nil: until the stream is dropped.
    package func events(for limit: Duration?) -> AsyncStream<Event> {
        AsyncStream { continuation in
            let task = Task {
                for await event in finder.peers(for: limit, isWatched: true) {
                    switch event {
                    case .found(let peer): continuation.yield(.found(row(peer)))
                    case .gone(let id): continuation.yield(.gone(id))
                    case .trouble(let reason): continuation.yield(.trouble(reason))
                    case .away: break
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// All that a short look finds; contacts first.
    /// - Parameter trouble: gets one line if looking is hampered, not escaped.
    package func found(within limit: Duration, trouble: (String) -> Void = { _ in }) async -> [Peer] {
        var peers: [Peer] = []
        for await event in events(for: limit) {
            switch event {
            case .found(let peer):
                peers.removeAll { $0.id == peer.id }
                peers.append(peer)
            case .gone(let id): peers.removeAll { $0.id == id }
            case .trouble(let reason): trouble(reason)
            }
        }
        return peers.filter(\.person.isContact) + peers.filter { !$0.person.isContact }
    }

    private func row(_ peer: FoundPeer) -> Peer {
        Peer(
            person: people.person(peer.id, callingItself: peer.card?.name),
            // A stranger without a key has the protocol beside its name already.
            protocolName: peer.dialect.provesKeys || peer.id.unprovenBy != nil ? "" : peer.dialect.title)
    }
}
