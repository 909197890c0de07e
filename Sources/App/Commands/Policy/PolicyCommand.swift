import ArgumentParser
import Contacts
import Endpoints
import ItemSources
import Sending
import Sharing
import UniformTypes

/// `waft policy`: the rules of the configuration.
struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Show and test the rules for offers.",
        discussion: """
            Example: waft policy test --from kitchen photo.jpg

            Rules are listed in the configuration under policy:, and are tried in order. Contacts have their own policy: waft \
            contacts show NAME.
            """,
        subcommands: [PolicyListCommand.self, PolicyTestCommand.self],
        defaultSubcommand: PolicyListCommand.self
    )
}
