import Peer

/// The network for a command, with errors as command failures.
enum CommandNetwork {
    static func make(_ surroundings: Surroundings) throws(CommandFailure) -> PeerNetwork {
        do {
            return try PeerNetwork.make(
                home: surroundings.home, settings: surroundings.settings, logger: surroundings.logger("waft"))
        } catch {
            throw CommandFailure(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
        }
    }
}
