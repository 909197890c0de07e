import Desktop
package import Endpoints
package import Lines
package import Sending
import Settings
package import Sharing

/// A step of a sending to one peer.
package enum SendStep: Sendable {
    case event(SendEvent)
    /// The end: a line for each item.
    case ended([SentLine])
    /// The end of a sending without a report.
    case failed(SendError, WaftExit)
}

extension Waft {
    /// Sends items to peers, side by side.
    /// - Parameters:
    ///   - finder: looks for the peers.
    ///   - cancellation: when requested, informs the other side and ends with `interrupted`.
    ///   - see: called for each step, in order for each peer.
    /// - Returns: the exit code for each peer, in their order: that of the first item that failed.
    package func send(
        _ sources: [any ItemSource], to peers: [PeerReference], by finder: PeerFinder, _ options: SendOptions,
        previews: OfferPreviews? = nil, cancellation: Cancellation,
        _ see: @escaping @Sendable (SendStep, _ peer: String) -> Void
    ) async -> [WaftExit] {
        let sender = Sender(
            finder: finder, ownName: settings.name, sentLog: home.sentLog,
            inhibitor: settings.inhibitsSleep ? SleepInhibitor(logger: logger) : nil, watch: SendingReports(receiver))
        let people = people
        return await withTaskGroup(of: (Int, WaftExit).self) { group in
            for (index, reference) in peers.enumerated() {
                group.addTask {
                    let peer = reference.description
                    do throws(SendError) {
                        let report = try await sender.send(
                            sources, to: reference, options: options, previews: previews, cancellation: cancellation
                        ) { see(.event($0), peer) }
                        let lines = Self.lines(report, to: peer, people, isAwaited: options.wait == .opened)
                        see(.ended(lines), peer)
                        return (index, lines.lazy.compactMap(\.exit).first ?? .done)
                    } catch {
                        let exit = Self.exit(error)
                        if !cancellation.isRequested { see(.failed(error, exit), peer) }
                        return (index, exit)
                    }
                }
            }
            var exits = Array(repeating: WaftExit.unexpected, count: peers.count)
            for await (index, exit) in group { exits[index] = exit }
            return exits
        }
    }

    private static func lines(
        _ report: SendReport, to peer: String, _ people: Acquaintances, isAwaited: Bool
    ) -> [SentLine] {
        let isKnown = report.peer.provenText != nil || report.name != nil
        let person = isKnown ? people.person(report.peer, callingItself: report.name).fields : nil
        return report.items.enumerated().map { number, item in
            var line = SentLine(item, number, of: report.offer, to: peer, peer: person, isAwaited: isAwaited)
            if number == report.items.count - 1 { line.moved = report.movedBytes }
            return line
        }
    }

    private static func exit(_ failure: SendError) -> WaftExit {
        switch failure.code {
        case .notFound: .peerNotFound
        case .ambiguous, .unfit: .usage
        case .unreachable: .unreachable
        case .noAnswer: .noAnswer
        case .refused(let code): WaftExit(code)
        case .cancelled: .interrupted
        }
    }
}
