import Contacts
import Lines
import Operations
import Sending

/// Lets a person choose a peer; without a terminal, reports the peers in view.
enum PeerPicker {
    /// Duration of the search without a terminal.
    private static let looking: Duration = .seconds(3)
    private static let prompt = SharePrompt(
        question: "Send to (number, name or address; q to give up): ",
        advice:
            "No machine found yet. On the other machine run waft receive or, if waftd runs there, waft visible everyone. "
            + "You can also type an address, such as 192.168.1.7.")

    /// - Returns: the whole id of the chosen peer, or an address.
    /// - Throws: `CommandError`, 64 if there is no terminal, 130 if no peer is chosen.
    static func pick(_ finder: PeerFinder, _ people: Acquaintances) async throws(CommandError) -> String {
        let peers = SharePeers(finder, people)
        guard LineReader.hasTerminal else {
            let found = await peers.found(within: looking) { reason in
                Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
            }
            let view = PeersInView(found.map(\.person))
            throw CommandError(.usage, "--to is missing, and there is no terminal to ask at; \(view.text)")
        }
        let sheet = ShareSheet(activities: [], takesPeers: true)
        switch await prompt.choose(from: sheet, ["Looking for machines \(Glyph.ellipsis)"], peers) {
        case .row(.peer(let peer)): return peer
        case .row, .givenUp: throw CommandError(.interrupted, "no machine was chosen; nothing was sent")
        case .interrupted: throw CommandError(.interrupted, "cancelled; nothing was sent")
        }
    }
}
