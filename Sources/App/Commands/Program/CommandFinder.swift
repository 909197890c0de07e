import Operations
import Sending

/// The search for peers for a command, with errors as command failures.
enum CommandFinder {
    static func make(_ context: CommandContext) throws(CommandError) -> PeerFinder {
        do throws(WaftError) {
            return try context.waft.finder()
        } catch {
            throw CommandError(error)
        }
    }
}
