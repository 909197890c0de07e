import Sending
import Settings

/// The search for peers for a command, with errors as command failures.
enum CommandFinder {
    static func make(_ surroundings: Surroundings) throws(CommandFailure) -> PeerFinder {
        do {
            return try PeerFinder.make(
                home: surroundings.home, settings: surroundings.settings, logger: surroundings.logger("waft"))
        } catch {
            throw CommandFailure(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
        }
    }
}
