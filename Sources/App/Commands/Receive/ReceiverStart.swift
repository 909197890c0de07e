import ArgumentParser
import Contacts
import Control
import Endpoints
import Lines
import Logging
import Receiving
import ServiceManager
import Settings
import Sharing

enum ReceiverStart {
    static func receiver(
        _ context: CommandContext,
        visibility: Visibility? = nil,
        sockets: PassedSockets = PassedSockets(),
        manager: ServiceManager? = nil,
        logger: Logger,
        observe: @escaping @Sendable (ReceiverEvent) -> Void
    ) -> Receiver {
        Receiver(
            home: context.home,
            settings: context.live,
            visibility: visibility,
            sockets: sockets,
            manager: manager,
            logger: logger,
            observe: observe
        )
    }

    static func failure(_ failure: ReceiverError) -> CommandError {
        let line = TerminalText.escaped(failure.description, limit: 1_000)
        return switch failure.code {
        case .setting: CommandError(.usage, line)
        case .alreadyRunning:
            CommandError(
                .usage, line,
                hint: "to answer its offers here: waft offers --watch, then waft accept N; to start another one: "
                    + "stop it first, or set another WAFT_HOME")
        case .unexpected: CommandError(.unexpected, line)
        }
    }
}
