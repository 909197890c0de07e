import ArgumentParser

/// `waft inbox`: the arrivals.
struct InboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inbox",
        abstract: "List, check, show, open, move out and delete the items of the Inbox.",
        subcommands: [
            InboxListCommand.self, InboxShowCommand.self, InboxPreviewCommand.self, InboxOptionsCommand.self,
            InboxOpenCommand.self, InboxOpenInCommand.self, InboxCatCommand.self, InboxTakeCommand.self,
            InboxRemoveCommand.self, InboxVerifyCommand.self, InboxProtectCommand.self, InboxUnprotectCommand.self,
            InboxRetryCommand.self, InboxAdoptCommand.self,
        ],
        defaultSubcommand: InboxListCommand.self
    )
}
