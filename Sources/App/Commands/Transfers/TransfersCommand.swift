import ArgumentParser

/// `waft transfers`: the transfers that move now, in both directions.
struct TransfersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfers",
        abstract: "List the transfers that move now, in both directions.",
        discussion: """
            Examples:
              waft transfers
              waft transfers --watch
              waft transfers cancel 4f21a07c

            Shows what arrives, what the outbox sends, and what other waft send commands of yours have been sending for more \
            than a second. Exit code 69 if no receiver is running.
            """,
        subcommands: [TransfersListCommand.self, TransfersCancelCommand.self],
        defaultSubcommand: TransfersListCommand.self
    )
}
