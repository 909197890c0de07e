import Endpoints
import Foundation
import Sending
import Settings
import Sharing
import Streams

/// Lets a person choose a peer; without a terminal, reports the peers in view.
enum PeerPicker {
    /// Duration of the search without a terminal.
    private static let looking: Duration = .seconds(3)
    /// Time without a found peer after which the person gets advice.
    private static let silence: Duration = .seconds(3)

    private enum Input: Sendable {
        case peers(PeerEvent)
        case line(String)
        /// No further peer will be found, or not soon.
        case late
        case interrupted
        case end
    }

    /// - Returns: the whole id of the chosen peer, or an address.
    /// - Throws: `CommandError`, 64 if there is no terminal, 130 if no peer is chosen.
    static func pick(_ finder: PeerFinder) async throws(CommandError) -> String {
        guard LineReader.hasTerminal else {
            var view = PeersInView()
            for await event in finder.peers(for: looking) {
                switch event {
                case .found(let peer): view.found(peer.id, name: peer.card?.name)
                case .gone(let id): view.gone(id)
                case .away: continue
                case .trouble(let reason): say(reason)
                }
            }
            throw CommandError(.usage, "--to is missing, and there is no terminal to ask at; \(view.text)")
        }
        // Before the question: a Ctrl-C may come as soon as it can be read.
        let signals = EndSignals.watched()
        Console.shared.note("Looking for machines \(Glyph.ellipsis)")
        Console.shared.prompt(PeerChoice.question)
        let end = await withTaskGroup(of: Void.self) { group in
            let inputs = Mailbox<Input>()
            group.addTask {
                for await event in finder.peers(for: nil) { inputs.post(.peers(event)) }
                inputs.post(.late)
            }
            group.addTask {
                try? await Task.sleep(for: silence)
                inputs.post(.late)
            }
            group.addTask {
                for await _ in signals { inputs.post(.interrupted) }
            }
            group.addTask {
                for await line in LineReader.terminalLines() { inputs.post(.line(line)) }
                inputs.post(.end)
            }
            defer { group.cancelAll() }
            return await choose(from: inputs)
        }
        switch end {
        case .chosen(let peer): return peer
        case .givenUp: throw CommandError(.interrupted, "no machine was chosen; nothing was sent")
        case .interrupted:
            Console.shared.endLine()
            throw CommandError(.interrupted, "cancelled; nothing was sent")
        }
    }

    private enum End {
        case chosen(String)
        case givenUp
        case interrupted
    }

    private static func choose(from inputs: Mailbox<Input>) async -> End {
        var choice = PeerChoice()
        var wasAdvised = false
        for await input in inputs {
            switch input {
            case .peers(.found(let peer)):
                guard let number = choice.found(peer.id, name: peer.card?.name) else { continue }
                let name = peer.card.map { TerminalText.peerName($0.name) } ?? "(does not tell its name)"
                let via = peer.dialect.provesKeys ? "" : "  (\(peer.dialect.name))"
                Console.shared.note("  \(number)  \(name)  \(peer.id.short)\(via)")
            case .peers(.trouble(let reason)):
                say(reason)
            case .peers(.gone), .peers(.away):
                continue
            case .late:
                guard choice.isEmpty, !wasAdvised else { continue }
                wasAdvised = true
                Console.shared.note(PeerChoice.advice)
            case .line(let line):
                Console.shared.answered()
                switch choice.answer(to: line) {
                case .chosen(let peer): return .chosen(peer)
                case .givenUp: return .givenUp
                case .unclear(let why):
                    if !why.isEmpty { Console.shared.note(why) }
                    Console.shared.prompt(PeerChoice.question)
                }
            case .interrupted:
                return .interrupted
            case .end:
                Console.shared.endLine()
                return .givenUp
            }
        }
        return .givenUp
    }

    private static func say(_ trouble: String) {
        Console.shared.note("waft: \(TerminalText.escaped(trouble, limit: 400))")
    }
}
