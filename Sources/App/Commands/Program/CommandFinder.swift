import Lines
import Sending
import Settings

/// The search for peers for a command, with errors as command failures.
enum CommandFinder {
    static func make(_ context: CommandContext) throws(CommandError) -> PeerFinder {
        do {
            return try PeerFinder.make(
                home: context.home, settings: context.settings, logger: context.logger("waft"))
        } catch {
            throw CommandError(.unexpected, TerminalText.escaped("\(error)", limit: 1_000))
        }
    }
}
