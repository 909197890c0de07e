import ArgumentParser
import Contacts
import Control
import Endpoints
import HandlerCatalog
import Journal
import Settings
import Sharing
import UniformTypes

/// `waft contacts`: the peers whose keys the user has verified and named.
struct ContactsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contacts",
        abstract: "Manage contacts and what they may send.",
        discussion: """
            Example: waft contacts me, on one machine; waft contacts allow ID --name kitchen, on another.

            A contact is a key with a name that you chose. Another machine that claims the same name is a stranger. \
            A running receiver notices changes by itself.
            """,
        subcommands: [
            ContactsListCommand.self, ContactsShowCommand.self, ContactsMeCommand.self, ContactsAllowCommand.self,
            ContactsSetCommand.self, ContactsRenameCommand.self, ContactsForgetCommand.self, ContactsBlockCommand.self,
            ContactsUnblockCommand.self,
        ],
        defaultSubcommand: ContactsListCommand.self
    )
}
