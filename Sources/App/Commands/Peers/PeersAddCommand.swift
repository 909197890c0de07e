import ArgumentParser
import Contacts
import Endpoints
import Lines
import Sending
import Settings
import Sharing

/// `waft peers add`.
struct PeersAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Remember the address of a machine.",
        discussion: """
            Example: waft peers add lab7 10.1.2.3; waft peers add lab8 '[fd00::8]:4001'

            The name leads to the address: whichever machine answers there gets what is sent to the name. To name a key \
            instead, make the machine a contact; a contact of the same name is looked for at this address too.
            """
    )

    @Argument(help: ArgumentHelp("Your name for the machine.", valueName: "name"))
    var name: String

    @Argument(help: ArgumentHelp("An IP address or a host name, with a port if not 9238.", valueName: "address[:port]"))
    var address: String

    @OptionGroup var output: OutputOptions

    struct Fields: Encodable {
        var name: String
        var addresses: [String]

        init(_ peer: RememberedPeer) {
            (name, addresses) = (peer.name.text, [peer.addressText])
        }
    }

    func run() async throws {
        let home = try CommandContext.forgiving.home
        let (peer, before) = try CommandError.remembering { () throws(RememberedPeerError) in
            let peer = try RememberedPeer(name: name, address: address)
            return (peer, try home.rememberedPeers.remember(peer))
        }
        if output.json { return EventLine.remembered(Fields(peer)).print() }
        let change = before.map { $0.addressText == peer.addressText ? "" : ", no longer at \($0.addressText)" } ?? ""
        Console.shared.result(
            TerminalText.escaped("\(peer.name.text) is remembered at \(peer.addressText)\(change)", limit: 800))
    }
}

extension CommandError {
    /// Reads or changes the remembered peers.
    static func remembering<Result>(
        _ body: () throws(RememberedPeerError) -> Result
    ) throws(CommandError) -> Result {
        do throws(RememberedPeerError) {
            return try body()
        } catch {
            let exit: WaftExit =
                switch error.code {
                case .unfit: .usage
                case .unknown: .inputMissing
                case .full, .damaged, .storage: .unexpected
                }
            throw CommandError(
                exit, TerminalText.escaped(error.description, limit: 1_000),
                hint: error.code == .unknown ? "see: waft peers" : nil)
        }
    }
}
