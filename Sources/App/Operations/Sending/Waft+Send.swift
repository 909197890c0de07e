import Desktop
import Endpoints
package import Lines
package import Sending
import Settings
package import Sharing

/// A step of a sending to one peer.
package enum SendStep: Sendable {
    /// The peer was found and its key is known.
    case connected(Person)
    case remarked(RemarkLine)
    case offered(OfferedLine)
    case answered(VerdictLine)
    case busy(BusyLine)
    case progressed(SendingLine)
    case resuming(ResumingLine)
    /// The other side has everything and works on it.
    case settled
    case handling(HandlingLine)
    /// The end: a line for each item.
    case ended([SentLine])
    /// The end of a sending without a report, and next steps for the user, one line each.
    case failed(FailedLine, advice: [String])
}

extension SendStep {
    /// Whether it says only that bytes have moved. There are many.
    package var isProgress: Bool { if case .progressed = self { true } else { false } }

    package var lines: [any Line] {
        switch self {
        case .connected, .settled: []
        case .remarked(let line): [line]
        case .offered(let line): [line]
        case .answered(let line): [line]
        case .busy(let line): [line]
        case .progressed(let line): [line]
        case .resuming(let line): [line]
        case .handling(let line): [line]
        case .ended(let lines): lines
        case .failed(let line, _): [line]
        }
    }

    /// - Parameter peer: as it was named.
    init(_ event: SendEvent, to peer: String, _ people: KnownPeers) {
        self =
            switch event {
            case .connected(let id, let name): .connected(people.person(id, callingItself: name))
            case .settled: .settled
            case .remarked(let remark): .remarked(RemarkLine(to: peer, reason: remark))
            case .offered(let offer): .offered(OfferedLine(offer, to: peer))
            case .answered(let verdict): .answered(VerdictLine(verdict, to: peer))
            case .busy(let reason, let cause):
                .busy(BusyLine(to: peer, reason: reason.isEmpty ? nil : reason, cause: cause))
            case .progressed(let bytes, let total, let moved):
                .progressed(SendingLine(to: peer, bytes: bytes, total: total, moved: moved))
            case .resuming(let reason): .resuming(ResumingLine(to: peer, reason: reason))
            case .handling: .handling(HandlingLine(to: peer))
            }
    }

    /// - Parameter peer: as it was named.
    init(_ failure: SendError, _ exit: WaftExit, to peer: String) {
        let hint = failure.advice.isEmpty ? nil : failure.advice.joined(separator: "; ")
        var line = FailedLine(exit, failure.description, hint: hint)
        (line.to, line.cause) = (peer, failure.cause)
        self = .failed(line, advice: failure.advice)
    }
}

extension Waft {
    /// How long a peer is looked for if the user does not say it: longer while this machine has a radio link of Apple's.
    package var finding: Duration { Radio(LiveSettings(settings)).finding ?? SendOptions().finding }

    /// The options of a sending that says no more.
    /// - Parameters:
    ///   - subject: one line.
    ///   - isAwaited: whether the answers of handlers are waited for.
    /// - Throws: `WaftError` `usage` for a subject that is none.
    package func sendOptions(subject: String? = nil, isAwaited: Bool = false) throws(WaftError) -> SendOptions {
        var options = SendOptions()
        options.finding = finding
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

    /// Sends items to peers, side by side.
    /// - Parameters:
    ///   - peers: each by its name, the beginning of its id, or an address.
    ///   - search: finds them; nil for one of its own.
    ///   - cancellation: when requested, informs the other side and ends with `interrupted`.
    ///   - beginning: called while several peers have not answered; an element lets the others begin.
    ///   - see: called for each step, in order for each peer.
    /// - Returns: the exit code of the first item that failed; `interrupted` if the sending was cancelled, unless all was done.
    /// - Throws: `WaftError` `usage` for a text that names no peer.
    package func send(
        _ sources: [any ItemSource], to peers: [String], by search: SharePeers? = nil, _ options: SendOptions,
        previews: OfferPreviews? = nil, cancellation: Cancellation,
        beginning: (@Sendable () -> AsyncStream<Void>)? = nil,
        _ see: @escaping @Sendable (SendStep, _ peer: String) -> Void
    ) async throws(WaftError) -> WaftExit {
        let references = try peers.map { peer throws(WaftError) in try PeerReference(typed: peer) }
        let finder = if let search { search.finder } else { try self.finder() }
        let sender = Sender(
            finder: finder, ownName: settings.name, sentLog: home.sentLog,
            inhibitor: settings.inhibitsSleep ? SleepInhibitor(logger: logger) : nil, watch: SendingReports(receiver))
        let people = people
        let chain = options.relays ? sender.group(sources, members: peers.count) : nil
        let exits = await withTaskGroup(of: (Int, WaftExit)?.self) { group in
            if let chain {
                group.addTask {
                    await chain.run(beginning: beginning)
                    return nil
                }
            }
            for (index, reference) in references.enumerated() {
                group.addTask {
                    defer { chain?.left(index) }
                    let peer = reference.description
                    do throws(SendError) {
                        let report = try await sender.send(
                            sources, to: reference, options: options, previews: previews,
                            seat: chain.map { SendGroup.Seat($0, member: index) }, cancellation: cancellation
                        ) { see(SendStep($0, to: peer, people), peer) }
                        let lines = Self.lines(report, to: peer, people, isAwaited: options.wait == .opened)
                        see(.ended(lines), peer)
                        return (index, lines.lazy.compactMap(\.exit).first ?? .done)
                    } catch {
                        let exit = Self.exit(error)
                        if !cancellation.isRequested { see(SendStep(error, exit, to: peer), peer) }
                        return (index, exit)
                    }
                }
            }
            var exits = Array(repeating: WaftExit.unexpected, count: peers.count)
            for await case (let index, let exit)? in group { exits[index] = exit }
            return exits
        }
        guard let fault = exits.first(where: { $0 != .done }) else { return .done }
        return cancellation.isRequested ? .interrupted : fault
    }

    private static func lines(
        _ report: SendReport, to peer: String, _ people: KnownPeers, isAwaited: Bool
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
