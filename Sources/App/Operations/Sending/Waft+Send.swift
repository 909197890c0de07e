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

extension SendStep {
    /// Whether it says only that bytes have moved. There are many.
    package var isProgress: Bool { if case .event(.progressed) = self { true } else { false } }

    /// - Parameter peer: as it was named.
    package func lines(to peer: String) -> [any Line] {
        switch self {
        case .ended(let lines): return lines
        case .failed(let failure, let exit):
            let hint = failure.advice.isEmpty ? nil : failure.advice.joined(separator: "; ")
            var line = FailedLine(exit, failure.description, hint: hint)
            (line.to, line.cause) = (peer, failure.cause)
            return [line]
        case .event(let event):
            return switch event {
            case .connected, .settled: []
            case .remarked(let remark): [RemarkLine(to: peer, reason: remark)]
            case .offered(let offer): [OfferedLine(offer, to: peer)]
            case .answered(let verdict): [VerdictLine(verdict, to: peer)]
            case .busy(let reason, let cause):
                [BusyLine(to: peer, reason: reason.isEmpty ? nil : reason, cause: cause)]
            case .progressed(let bytes, let total, _): [SendingLine(to: peer, bytes: bytes, total: total)]
            case .resuming(let reason): [ResumingLine(to: peer, reason: reason)]
            case .handling: [HandlingLine(to: peer)]
            }
        }
    }
}

extension Waft {
    /// The options of a sending that says no more.
    /// - Parameters:
    ///   - subject: one line.
    ///   - isAwaited: whether the answers of handlers are waited for.
    /// - Throws: `WaftError` `usage` for a subject that is none.
    package func sendOptions(subject: String? = nil, isAwaited: Bool = false) throws(WaftError) -> SendOptions {
        var options = SendOptions()
        options.annotation[SourceApplication.key] = SourceApplication.send
        (options.wait, options.takesPart) = (isAwaited ? .opened : .stored, true)
        if let subject {
            guard let line = Offer.subject(subject) else {
                throw WaftError(.usage, "the subject is one line of at most \(Offer.subjectBytes) bytes")
            }
            options.annotation[Offer.subjectKey] = line
        }
        return options
    }

    /// Sends items to one peer.
    /// - Parameters:
    ///   - peer: its name, the beginning of its id, or an address.
    ///   - cancellation: as below.
    ///   - see: called for each step, in order.
    /// - Returns: the exit code of the first item that failed; `interrupted` if the sending was cancelled.
    /// - Throws: `WaftError` `usage` for a text that names no peer.
    package func send(
        _ sources: [any ItemSource], to peer: String, _ options: SendOptions, cancellation: Cancellation,
        _ see: @escaping @Sendable (SendStep, _ peer: String) -> Void
    ) async throws(WaftError) -> WaftExit {
        let reference: PeerReference
        do throws(PeerReference.FormatError) {
            reference = try PeerReference(peer)
        } catch {
            throw WaftError(.usage, error.description)
        }
        let exits = await send(sources, to: [reference], by: try finder(), options, cancellation: cancellation, see)
        guard let fault = exits.first(where: { $0 != .done }) else { return .done }
        return cancellation.isRequested ? .interrupted : fault
    }

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
