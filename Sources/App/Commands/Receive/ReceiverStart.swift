import ArgumentParser
import Contacts
import Control
import Endpoints
import Logging
import Receiving
import Settings
import Sharing

enum ReceiverStart {
    static func receiver(
        _ surroundings: Surroundings,
        logger: Logger,
        visibility: Visibility? = nil,
        observe: @escaping @Sendable (ReceiverEvent) -> Void
    ) throws(CommandFailure) -> Receiver {
        do {
            return try Receiver(
                home: surroundings.home,
                settings: surroundings.settings,
                visibility: visibility,
                logger: logger,
                observe: observe
            )
        } catch {
            throw failure(error)
        }
    }

    static func failure(_ failure: ReceiverFailure) -> CommandFailure {
        let line = TerminalText.escaped(failure.description, limit: 1_000)
        return switch failure.code {
        case .setting: CommandFailure(.usage, line)
        case .alreadyRunning:
            CommandFailure(
                .unexpected, line,
                hint: "to answer its offers here: waft offers --watch, then waft accept N; to start another one: "
                    + "stop it first, or set another WAFT_HOME")
        case .unexpected: CommandFailure(.unexpected, line)
        }
    }
}
