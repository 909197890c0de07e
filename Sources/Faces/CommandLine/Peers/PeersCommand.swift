import ArgumentParser
import Lines
import Operations
import Sharing

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

/// `waft peers list`, and `waft peers` alone.
struct PeersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the peers on the network, and the remembered ones as present or absent.",
        discussion: """
            Example: waft peers --watch

            Contacts come first, under your names for them. The names of strangers come from the strangers themselves, and \
            prove nothing: a stranger that has the name of a contact is marked.
            """
    )

    @Flag(name: .long, help: "Keep running, and show peers that appear and disappear.")
    var watch = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Seconds, or a time such as 1m, to look, without --watch (default: 3).", valueName: "seconds"),
        transform: Seconds.read)
    var timeout: Seconds?

    @Flag(
        name: .long,
        help: "Also ask each address of the own networks for LocalSend, where multicast does not work; takes a while.")
    var scan = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let limit = timeout?.duration ?? .seconds(3)
        let context = try CommandContext()
        let (watch, scan) = (self.watch, self.scan)
        let search = try await output.doing(in: context) { waft throws(WaftError) in
            try waft.peers.search(for: watch ? nil : limit, scanning: scan)
        }
        if watch, !output.json { NetworkNote.say(context.waft) }
        let list = PeersList(isWatched: watch, output: output) { NetworkNote.text(context.waft) }
        let cancellation = Cancellation()
        do {
            try await Interruption.watching(cancellation, goodbye: .zero) {
                await withTaskGroup(of: Void.self) { group in
                    let (inputs, inlet) = AsyncStream<PeersList.Input>.makeStream()
                    group.addTask {
                        for await news in search { inlet.yield(.news(news)) }
                        inlet.yield(.end)
                    }
                    if watch {
                        group.addTask {
                            try? await Task.sleep(for: PeersList.firstLook)
                            inlet.yield(.open)
                        }
                    }
                    await list.show(inputs)
                    group.cancelAll()
                }
            }
        } catch is CancellationError {
            // Said below.
        }
        if cancellation.isRequested, !watch { throw WaftExit.interrupted.code }
    }
}

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

    func run() async throws {
        try await output.show { waft throws(WaftError) in try waft.peers.remember(name, at: address) }
    }
}

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
        try await output.show { waft throws(WaftError) in try waft.peers.forget(name) }
    }
}

extension RememberedLine: WordedLine {
    var words: [String] {
        let address = addresses.joined()
        let change = former.map { $0 == address ? "" : ", no longer at \($0)" } ?? ""
        let text = isRemoved ? "is no longer remembered at \(address)" : "is remembered at \(address)\(change)"
        return [TerminalText.escaped("\(name) \(text)", limit: 800)]
    }
}
