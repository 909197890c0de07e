import ArgumentParser
import Endpoints

/// `waft peers`: the peers on the network, and those whose addresses are remembered.
struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the peers on the network, and remember addresses of others.",
        discussion: """
            Example: waft peers --watch; waft peers add lab7 10.1.2.3

            Peers of the local network are found by mDNS. For a machine in another network, remember its address. It is then \
            asked there, listed as present or absent, and found by: waft send FILE --to NAME
            """,
        subcommands: [PeersListCommand.self, PeersAddCommand.self, PeersRemoveCommand.self],
        defaultSubcommand: PeersListCommand.self
    )
}
