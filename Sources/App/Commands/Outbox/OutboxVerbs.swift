import ArgumentParser
import Control
import Endpoints
import Outbox
import Settings
import Sharing

/// `waft outbox`: the jobs that wait to be sent.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Show and change the jobs of the outbox.",
        discussion: """
            Examples:
              waft send report.pdf --to kitchen --queue
              waft outbox
              waft outbox show 3
              waft outbox cancel 3
              waft outbox remove 3 4

            A job is tried with growing pauses, and at once when its peer comes into view, for seven days.
            """,
        subcommands: [
            OutboxListCommand.self, OutboxShowCommand.self, OutboxCancelCommand.self, OutboxRetryCommand.self,
            OutboxRemoveCommand.self,
        ],
        defaultSubcommand: OutboxListCommand.self
    )
}
