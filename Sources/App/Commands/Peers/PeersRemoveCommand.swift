import ArgumentParser
import Contacts
import Endpoints
import Sending
import Settings
import Sharing

/// `waft peers remove`.
struct PeersRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Forget a remembered address.",
        discussion: "Example: waft peers remove lab7"
    )

    @Argument(
        help: ArgumentHelp("Your name for the machine.", valueName: "name"), completion: .rememberedPeers)
    var name: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let home = try CommandContext.forgiving.home
        let peer = try CommandError.remembering { () throws(RememberedPeerError) in
            try home.rememberedPeers.forget(name)
        }
        if output.json { return EventLine.peerRemoved(PeersAddCommand.Fields(peer)).print() }
        Console.shared.result(
            TerminalText.escaped("\(peer.name.text) is no longer remembered at \(peer.addressText)", limit: 800))
    }
}
