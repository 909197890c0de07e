import Control
import Endpoints
import Lines
import Sharing

/// `waft inbox list --watch`: shows arrivals, the answers of handlers, and departures.
struct InboxWatch {
    /// Nil for everything.
    let choice: ArrivalChoice?
    let json: Bool

    /// Shows events until Ctrl-C.
    func run() async throws {
        try await Daemon.follow { event in
            if case .ready = event, json { return Console.shared.result(event.json) }
            guard choice?.isWanted(event) != false, let line = Self.line(event) else { return }
            Console.shared.result(json ? event.json : line)
        }
    }

    /// - Returns: nil for events that are not about the Inbox.
    static func line(_ event: ControlEvent) -> String? {
        guard case .arrival(let arrival) = event else { return nil }
        let toward = TerminalText.escaped(arrival.toward ?? "", limit: 4_096)
        switch arrival.change {
        case .stored:
            let lies = arrival.content == "lying" ? ": content does not match its type, no handler asked" : ""
            let sender = arrival.from.line(via: arrival.via)
            return "\(head(arrival))  \(ByteCount.text(arrival.size)) from \(sender)\(lies)"
        case .opened, .deferred, .failed:
            return "\(head(arrival)): \(words(arrival.handlerAnswer ?? "", arrival.arrival))"
        case .taken: return "\(head(arrival)): taken to \(toward)"
        case .removed: return "\(head(arrival)): removed"
        case .gone: return "\(head(arrival)): gone after \(toward) was asked"
        }
    }

    private static func head(_ arrival: ArrivalLine) -> String {
        "\(arrival.arrival)  \(TerminalText.escaped(arrival.stored))"
    }

    /// The meaning of a handler's answer, in the words of `waft history`.
    private static func words(_ answer: String, _ number: Int64) -> String {
        switch HandlerAnswer.State(rawValue: answer) {
        case .yes: "opened"
        case .no: "no handler wants it"
        case .later: "its handler will be asked again later"
        case .failed: "the handler failed; again: waft inbox retry \(number)"
        case .pending, .some(.none), nil: "no handler asked"
        }
    }
}

extension Daemon {
    /// Shows the events of the running receiver until Ctrl-C, which is the normal end.
    ///
    /// - Throws: `CommandError`, 69 if no receiver is running, or if it ends.
    static func follow(_ see: @escaping @Sendable (ControlEvent) -> Void) async throws {
        let end = Cancellation()
        do {
            try await Interruption.watching(end, goodbye: .zero) {
                try await watch { event in see(event) }
            }
        } catch is CancellationError {
            return
        } catch  where end.isRequested {
            return
        }
        guard !end.isRequested else { return }
        throw CommandError(.notRunning, "the receiver ended, or its events were read too slowly")
    }
}
