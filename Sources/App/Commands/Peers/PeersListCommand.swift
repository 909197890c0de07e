import ArgumentParser
import Endpoints
import Foundation
import Lines
import Operations
import Sending
import Settings
import Sharing
import Streams

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
        let finder = try CommandFinder.make(context)
        let cancellation = Cancellation()
        let (watch, scan) = (self.watch, self.scan)
        if watch, !output.json { NetworkNote.say(context.settings) }
        let list = PeersList(isWatched: watch, json: output.json, people: context.people) {
            NetworkNote.text(context.settings)
        }
        do {
            try await Interruption.watching(cancellation, goodbye: .zero) {
                await withTaskGroup(of: Void.self) { group in
                    let inputs = Mailbox<PeersList.Input>()
                    group.addTask {
                        for await event in finder.peers(for: watch ? nil : limit, scanning: scan) {
                            inputs.post(.event(event))
                        }
                        inputs.post(.end)
                    }
                    if watch {
                        group.addTask {
                            try? await Task.sleep(for: PeersList.firstLook)
                            inputs.post(.open)
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
