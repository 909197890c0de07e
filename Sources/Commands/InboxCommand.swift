import ArgumentParser

/// `waft inbox`: what has arrived.
struct InboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "Look into the Inbox, and take things out of it.",
        subcommands: [
            InboxListCommand.self, InboxShowCommand.self, InboxOpenCommand.self, InboxTakeCommand.self,
            InboxRemoveCommand.self, InboxVerifyCommand.self, InboxRetryCommand.self, InboxAdoptCommand.self,
        ],
        defaultSubcommand: InboxListCommand.self
    )
}
