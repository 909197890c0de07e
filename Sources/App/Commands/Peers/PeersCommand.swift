import ArgumentParser
import Endpoints
import Foundation
import Sending
import Settings
import Sharing

/// `waft peers`: the peers on the network.
struct PeersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "peers",
        abstract: "List the peers on the local network.",
        discussion: "Example: waft peers --watch. Names come from the peers themselves, over TLS, and prove nothing."
    )

    @Flag(name: .long, help: "Keep running, and show peers that appear and disappear.")
    var watch = false

    @Option(name: .long, help: ArgumentHelp("Seconds to look, without --watch (default: 3).", valueName: "seconds"))
    var timeout: Double?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        guard let limit = Seconds.duration(timeout ?? 3) else {
            throw CommandError(.usage, "--timeout is a number of seconds above 0")
        }
        let context = try CommandContext()
        let finder = try CommandFinder.make(context)
        let cancellation = Cancellation()
        let (watch, output) = (self.watch, self.output)
        do {
            try await Interruption.watching(cancellation, goodbye: .zero) {
                var shown: [PeerID: Card?] = [:]
                for await event in finder.peers(for: watch ? nil : limit) {
                    switch event {
                    case .found(let peer):
                        // Its addresses become known one by one. Programs that watch see each change, people do not.
                        guard shown[peer.id] != .some(peer.card) || (watch && output.json) else { continue }
                        shown[peer.id] = .some(peer.card)
                        Self.show(peer, json: output.json)
                    case .gone(let id):
                        shown[id] = nil
                        if watch { Self.gone(id, json: output.json) }
                    case .trouble(let reason):
                        Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
                    }
                }
                if shown.isEmpty, !watch, !output.json {
                    Console.shared.note(
                        "no machine found; does waftd or waft receive run on the other machine, and does the firewall allow mDNS?"
                    )
                }
            }
        } catch is CancellationError {
            // Said below.
        }
        if cancellation.isRequested, !watch { throw WaftExit.interrupted.code }
    }

    private static func show(_ peer: FoundPeer, json: Bool) {
        if json { return EventLine.found(EventLine.Found(peer)).print() }
        let name = peer.card.map { TerminalText.peerName($0.name) } ?? "(does not tell its name)"
        let padding = String(repeating: " ", count: max(1, 24 - name.count))
        let address = peer.target.addressTexts.first.map { TerminalText.escaped($0) } ?? ""
        let via = peer.dialect.provesKeys ? "" : "  (\(peer.dialect.name), proves no key)"
        Console.shared.result("\(name)\(padding)\(peer.id.short)  \(address)\(via)")
    }

    private static func gone(_ id: PeerID, json: Bool) {
        if json { return EventLine.lost(EventLine.Lost(id)).print() }
        Console.shared.result("\(id.short) is gone")
    }
}
