import Foundation
import Peer
import Sharing

/// Lets a person choose whom to send to; where there is none, says who is in view.
enum PeerPicker {
    /// How long to look where nobody can choose.
    private static let looking: Duration = .seconds(3)

    private enum Input: Sendable {
        case peers(PeerEvent)
        case line(String)
        case end
    }

    /// - Returns: the whole id of the chosen peer.
    /// - Throws: `CommandFailure`, 64 where there is no terminal.
    static func pick(_ network: PeerNetwork) async throws(CommandFailure) -> String {
        guard LineReader.hasTerminal else {
            var view = PeersInView()
            for await event in network.peers(for: looking) {
                switch event {
                case .found(let peer): view.found(peer.id, name: peer.card?.name)
                case .gone(let id): view.gone(id)
                case .trouble(let reason): say(reason)
                }
            }
            throw CommandFailure(.usage, "--to is missing, and there is no terminal to ask at; \(view.text)")
        }
        Console.shared.note("Looking for peers; type a number, or q to give up.")
        let id = await withTaskGroup(of: Void.self) { group in
            let (inputs, feed) = AsyncStream<Input>.makeStream()
            group.addTask {
                for await event in network.peers(for: nil) { feed.yield(.peers(event)) }
            }
            group.addTask {
                for await line in LineReader.terminalLines() { feed.yield(.line(line)) }
                feed.yield(.end)
            }
            defer { group.cancelAll() }
            return await choose(from: inputs)
        }
        guard let id else { throw CommandFailure(.interrupted, "nobody was chosen") }
        return id
    }

    private static func choose(from inputs: AsyncStream<Input>) async -> String? {
        var peers: [FoundPeer] = []
        for await input in inputs {
            switch input {
            case .peers(.found(let peer)):
                guard !peers.contains(where: { $0.id == peer.id }) else { continue }
                peers.append(peer)
                let name = peer.card.map { TerminalText.peerName($0.name) } ?? "(does not tell its name)"
                let via = peer.dialect == .waft ? "" : "  (\(peer.dialect.rawValue))"
                Console.shared.note("  \(peers.count)  \(name)  \(peer.id.short)\(via)")
            case .peers(.trouble(let reason)):
                say(reason)
            case .peers(.gone):
                continue
            case .line(let line):
                if line.lowercased() == "q" { return nil }
                if let number = Int(line), peers.indices.contains(number - 1) { return peers[number - 1].id.text }
                Console.shared.note("Type one of the numbers, or q.")
            case .end:
                return nil
            }
        }
        return nil
    }

    private static func say(_ trouble: String) {
        Console.shared.note("waft: \(TerminalText.escaped(trouble, limit: 400))")
    }
}
