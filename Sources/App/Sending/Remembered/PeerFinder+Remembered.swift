import Contacts
import Endpoints
import Sharing

extension PeerFinder {
    /// The pause between two questions to a remembered peer in a search without an end.
    private static let pause: Duration = .seconds(30)
    /// How long a peer may take to answer, in a search without an end.
    private static let answering: Duration = .seconds(5)

    /// The remembered peer of a name; nil if there is none.
    ///
    /// - Throws: `SendError` if the file cannot be read: the name may be one of a remembered peer.
    func rememberedPeer(named name: String) throws(SendError) -> RememberedPeer? {
        do throws(RememberedPeerError) {
            return try remembered?.peer(named: name)
        } catch {
            throw SendError(.unreachable, error.description)
        }
    }

    /// Asks all remembered peers at the same time, and reports each as found or as away: again when that changes.
    ///
    /// - Parameter limit: how long the search lasts; nil until the task is cancelled.
    func askRemembered(_ found: AsyncStream<PeerEvent>.Continuation, for limit: Duration?) async {
        let peers: [RememberedPeer]
        do throws(RememberedPeerError) {
            peers = try remembered?.all() ?? []
        } catch {
            found.yield(.trouble(error.description))
            return
        }
        // A connection and an answer fit into the search, so that each peer is reported before its end.
        let answering = limit.map { min($0 / 3, Self.answering) } ?? Self.answering
        await withDiscardingTaskGroup { group in
            for peer in peers { group.addTask { await ask(peer, answering, found) } }
        }
    }

    private func ask(
        _ peer: RememberedPeer, _ answering: Duration, _ found: AsyncStream<PeerEvent>.Continuation
    ) async {
        var last: PeerID?
        var isReported = false
        while !Task.isCancelled {
            do throws(MeetingError) {
                var met = try await meet(host: peer.host, port: peer.port, within: answering)
                met.remembered = peer.name.text
                // A card that the peer shows later is news too, and those who watch compare it.
                found.yield(.found(met))
                last = met.id
            } catch {
                if Task.isCancelled { return }
                if last != nil || !isReported {
                    found.yield(.away(name: peer.name.text, address: peer.addressText, reason: error.description))
                }
                last = nil
            }
            isReported = true
            try? await Task.sleep(for: Self.pause)
        }
    }
}
