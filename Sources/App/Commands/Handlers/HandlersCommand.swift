import ArgumentParser
import Control
import Endpoints
import HandlerCatalog
import HookSandbox
import Settings

/// `waft handlers`: the programs that open arrivals.
struct HandlersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "handlers",
        abstract: "Manage handlers: programs that open received items.",
        discussion: """
            Example: waft handlers add --name Photos --type public.image --run ./import.sh, then waft handlers test a.jpg

            A handler is a folder NAME.handler with an Info.plist and a program. Handlers are in your own folder, in \
            /etc/waft/handlers and in /usr/share/waft/handlers. A running receiver uses changes as soon as these commands \
            return; it also notices bundles that you copy into these folders.
            """,
        subcommands: [
            HandlersListCommand.self, HandlersShowCommand.self, HandlersAddCommand.self, HandlersRemoveCommand.self,
            HandlersEnableCommand.self, HandlersDisableCommand.self, HandlersTestCommand.self,
            HandlersDefaultCommand.self, HandlersSettingsCommand.self,
        ],
        defaultSubcommand: HandlersListCommand.self
    )
}
