import ArgumentParser
import Endpoints
import Foundation
import Sending
import Settings
import Sharing

/// `waft peers list`, and `waft peers` alone.
struct PeersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the peers on the network, and the remembered ones as present or absent.",
        discussion: "Example: waft peers --watch. Names come from the peers themselves, over TLS, and prove nothing."
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

    /// A line of the list.
    private struct Line: Hashable {
        var id: PeerID
        /// The user's name for a remembered peer.
        var remembered: String?
    }

    func run() async throws {
        let limit = timeout?.duration ?? .seconds(3)
        let context = try CommandContext()
        let finder = try CommandFinder.make(context)
        let cancellation = Cancellation()
        let (watch, scan, output) = (self.watch, self.scan, self.output)
        if watch, !output.json { NetworkNote.say(context.settings) }
        do {
            try await Interruption.watching(cancellation, goodbye: .zero) {
                var shown: [Line: Card?] = [:]
                var isEmpty = true
                for await event in finder.peers(for: watch ? nil : limit, scanning: scan) {
                    switch event {
                    case .found(let peer):
                        // Its addresses become known one by one. Programs that watch see each change, people do not.
                        let line = Line(id: peer.id, remembered: peer.remembered)
                        let isChange = watch && output.json && peer.remembered == nil
                        guard shown[line] != .some(peer.card) || isChange else { continue }
                        shown[line] = .some(peer.card)
                        isEmpty = false
                        Self.show(peer, json: output.json)
                    case .gone(let id):
                        shown[Line(id: id)] = nil
                        if watch { Self.gone(id, json: output.json) }
                    case .away(let name, let address, let reason):
                        shown = shown.filter { $0.key.remembered != name }
                        isEmpty = false
                        Self.away(name, address, reason, json: output.json)
                    case .trouble(let reason):
                        Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
                    }
                }
                if isEmpty, !watch, !output.json {
                    if let text = NetworkNote.text(context.settings) { return Console.shared.note("waft: \(text)") }
                    Console.shared.note(
                        "no machine found; does waftd or waft receive run on the other machine, and does the firewall allow "
                            + "mDNS? To find the cause: waft doctor"
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
        let address = peer.target.addressTexts.first.map { TerminalText.escaped($0) } ?? ""
        let via =
            switch (peer.dialect.provesKeys, peer.id.unprovenBy) {
            case (true, _): ""
            case (false, nil): "  (\(peer.dialect.name))"
            case (false, _): "  (\(peer.dialect.name), proves no key)"
            }
        let own = peer.remembered.map { "  (remembered as \(TerminalText.escaped($0)): present)" } ?? ""
        Console.shared.result("\(padded(name))\(peer.id.short)  \(address)\(via)\(own)")
    }

    private static func away(_ name: String, _ address: String, _ reason: String, json: Bool) {
        if json { return EventLine.away(EventLine.Away(name: name, address: address, reason: reason)).print() }
        let (name, address) = (TerminalText.escaped(name), TerminalText.escaped(address))
        Console.shared.result("\(padded(name))absent     \(address)  (remembered)")
    }

    private static func padded(_ name: String) -> String {
        name + String(repeating: " ", count: max(1, 24 - name.count))
    }

    private static func gone(_ id: PeerID, json: Bool) {
        if json { return EventLine.lost(EventLine.Lost(id)).print() }
        Console.shared.result("\(id.short) is gone")
    }
}
