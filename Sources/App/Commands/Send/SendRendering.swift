import ContentCheck
import Digests
import Endpoints
import Sending
import Settings
import Sharing
import Synchronization
import UniformTypes

/// Shows how a sending goes: for people, or as JSON events.
final class SendRendering: Sendable {
    /// The state of the sending to one peer.
    private struct Course {
        /// Escaped.
        var peerName: String
        /// The item, or how many there are; escaped.
        var items = ""
        var progress: ProgressLine?
        /// Whether the line about the part that was there before has been printed.
        var hasToldKept = false
        var cancellation = SendCancellation()
    }

    private struct State {
        var courses: [String: Course] = [:]
    }

    private let json: Bool
    private let quiet: Bool
    private let peers: Int
    private let isRepeatable: Bool
    private let state = Mutex(State())
    private let throttle = Throttle()

    /// - Parameter isRepeatable: whether the same command can send the items again.
    init(json: Bool, quiet: Bool, peers: Int, isRepeatable: Bool) {
        self.json = json
        self.quiet = quiet
        self.peers = peers
        self.isRepeatable = isRepeatable
    }

    func show(_ event: SendEvent, to peer: String) {
        switch event {
        case .connected(let id, let name):
            let shown = name.map(TerminalText.peerName) ?? TerminalText.escaped(peer)
            state.withLock { $0.courses[peer] = Course(peerName: shown) }
            if !json, !quiet { Console.shared.status("waiting for \(shown) (\(id.short)) to accept \(Glyph.ellipsis)") }
        case .offered(let offer):
            let only = offer.items.count == 1 ? offer.items.first : nil
            let items = only.map { TerminalText.escaped($0.name.text) } ?? "\(offer.items.count) items"
            let again: SendCancellation.Again =
                isRepeatable ? offer.dialect.resumes ? .resumes : .begins : .needsInput
            state.withLock { state in
                state.courses[peer]?.items = items
                state.courses[peer]?.cancellation.again = again
            }
            guard json else { return }
            var line = addressed(EventLine(.offered), peer)
            line.transfer = offer.transfer.text
            line.size = offer.knownSize
            line.items = offer.items.prefix(EventLine.shownItems).enumerated().map(EventLine.Item.init)
            line.count = offer.items.count
            line.print()
        case .answered(let verdict):
            guard json else { return }
            var line = addressed(EventLine(.answered), peer)
            line.acceptedCount = verdict.items.count { $0.answer == .accepted }
            line.answers = verdict.items.prefix(EventLine.shownItems).enumerated().map { number, item in
                EventLine.Answer(item: number, answer: item.answer.rawValue, reason: item.reason)
            }
            line.print()
        case .busy(let reason):
            if json {
                var line = addressed(EventLine(.busy), peer)
                line.reason = reason.isEmpty ? nil : reason
                line.print()
            } else if !quiet {
                let why = reason.isEmpty ? "" : " (\(TerminalText.escaped(reason, limit: 400)))"
                Console.shared.status(
                    "\(TerminalText.escaped(peer, limit: 64)) is busy\(why); trying again \(Glyph.ellipsis)")
            }
        case .progressed(let bytes, let total, let moved):
            progressed(bytes, total, moved, to: peer)
        case .resuming(let reason):
            if json {
                var line = addressed(EventLine(.resuming), peer)
                line.reason = reason
                line.print()
            } else if !quiet {
                Console.shared.endStatus()
                Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 1_000)); resuming \(Glyph.ellipsis)")
            }
        case .settled:
            Console.shared.endStatus()
        }
    }

    private func addressed(_ line: EventLine, _ peer: String) -> EventLine {
        var line = line
        line.to = peer
        return line
    }

    private func progressed(_ bytes: UInt64, _ total: UInt64?, _ moved: UInt64, to peer: String) {
        state.withLock { state in
            state.courses[peer]?.cancellation.bytes = bytes
            state.courses[peer]?.cancellation.total = total
        }
        guard json || (!quiet && Console.shared.isInteractive) else { return }
        let now = ContinuousClock.now
        guard throttle.isDue(at: now) else { return }
        if json {
            var line = addressed(EventLine(.progress), peer)
            (line.bytes, line.total) = (bytes, total)
            return line.print()
        }
        let (text, kept): (String?, String?) = state.withLock { state in
            guard var course = state.courses[peer] else { return (nil, nil) }
            let kept = course.hasToldKept ? nil : ResumeWords.line(bytes: bytes, of: total, moved: moved)
            course.hasToldKept = course.hasToldKept || kept != nil
            var line =
                course.progress ?? ProgressLine("\(course.items) \(Glyph.arrow) \(course.peerName)", total: total)
            let text = line.text(bytes: bytes, moved: moved, at: now, width: Console.shared.width - 1)
            course.progress = line
            state.courses[peer] = course
            return (text, kept.map { "\(course.items) \(Glyph.arrow) \(course.peerName): \($0)" })
        }
        if let kept { Console.shared.note(kept) }
        if let text { Console.shared.status(text) }
    }

    // MARK: The end

    func fail(_ failure: SendFailure, _ exit: WaftExit, to peer: String) {
        Console.shared.endStatus()
        state.withLock { $0.courses[peer] = nil }
        let reason = TerminalText.escaped(failure.description, limit: 1_000)
        if json {
            var line = addressed(EventLine(.failed), peer)
            (line.reason, line.exit) = (failure.description, exit.rawValue)
            line.print()
        } else {
            Console.shared.note("waft: \(reason)")
        }
    }

    /// Prints the outcome of each item.
    /// - Returns: the exit code of the first item that failed.
    func show(_ report: SendReport, to peer: String, sources: [any ItemSource], wait: SendOptions.Wait) -> WaftExit {
        Console.shared.endStatus()
        state.withLock { $0.courses[peer] = nil }
        var first = WaftExit.done
        for (number, item) in report.items.enumerated() {
            let outcome = ItemText(item, wait: wait, by: report.offer.dialect)
            if first == .done { first = outcome.exit }
            let origin = sources[number].origin
            if json {
                var line = line(outcome, report, number, to: peer)
                line.alreadyThere = outcome.isAlready ? true : nil
                if number == report.items.count - 1 { line.moved = report.movedBytes }
                line.print()
            } else {
                let shown = TerminalText.escaped(
                    ["text", "url"].contains(origin) ? report.offer.items[number].name.text : origin)
                let name = TerminalText.escaped(report.name ?? peer, limit: 64)
                let text = "\(shown) \(Glyph.arrow) \(name): \(outcome.text)"
                if outcome.exit == .done {
                    if !quiet { Console.shared.result(text) }
                } else {
                    Console.shared.note("waft: \(text)")
                }
            }
        }
        return first
    }

    private func line(_ outcome: ItemText, _ report: SendReport, _ number: Int, to peer: String) -> EventLine {
        var line = addressed(EventLine(outcome.event), peer)
        let id = report.peer.provenText
        line.peer = id == nil && report.name == nil ? nil : EventLine.Peer(id: id, name: report.name)
        line.via = report.offer.dialect.name
        line.transfer = report.offer.transfer.text
        line.item = number
        line.name = report.offer.items[number].name.text
        line.stored = outcome.stored
        line.size = outcome.size
        line.digest = outcome.digest
        line.handlerAnswer = outcome.handler?.state.rawValue
        line.exitCode = outcome.handler?.exitCode
        line.content = outcome.content
        if outcome.exit != .done {
            line.reason = outcome.text
            line.exit = outcome.exit.rawValue
        }
        return line
    }

    func done(_ exit: WaftExit) {
        Console.shared.endStatus()
        if json {
            EventLine.done(exit).print()
        } else if exit == .interrupted {
            for line in cancellations { Console.shared.note("waft: \(line)") }
        }
    }
}

extension SendRendering {
    /// A line for each peer whose sending has no end of its own.
    private var cancellations: [String] {
        let courses = state.withLock { $0.courses }
        guard peers > 1 else { return [(courses.first?.value.cancellation ?? SendCancellation()).text] }
        guard !courses.isEmpty else { return ["cancelled"] }
        return courses.sorted { $0.key < $1.key }.map { peer, course in
            "\(TerminalText.escaped(peer, limit: 64)): \(course.cancellation.text)"
        }
    }
}

/// The outcome of one item, in words and as an exit code.
struct ItemText {
    var exit: WaftExit
    /// Escaped.
    var text: String
    var event: EventName
    var stored: String?
    var size: UInt64?
    var digest: String?
    var handler: HandlerAnswer?
    var content: String?
    /// It had been stored before, and nothing was stored now.
    var isAlready = false

    /// - Parameter dialect: the protocol of the transfer, on which the words depend.
    init(_ item: SendOutcome.Item, wait: SendOptions.Wait, by dialect: Dialect) {
        switch item {
        case .notAccepted(let verdict):
            self.init(exit: WaftExit(verdict.answer), text: OutcomeWords.line(verdict), event: .failed)
        case .unread(let fault):
            self.init(exit: WaftExit(fault), text: TerminalText.escaped(fault.message, limit: 1_000), event: .failed)
        case .lost(let fault):
            self.init(exit: WaftExit(fault.code), text: TerminalText.escaped(fault.message), event: .failed)
        case .acknowledged(let receipt, _) where !dialect.givesReceipts:
            self.init(taken: receipt)
        case .acknowledged(let receipt, _):
            self.init(receipt, wait: wait)
        }
    }

    /// Some dialects give no receipt: the other side reports that it has everything, but not where or under which name.
    private init(taken receipt: ItemReceipt) {
        self.init(exit: .done, text: "the other side says it has it", event: .sent)
        if case .stored(let name, let size, _) = receipt.outcome {
            text = "sent as \(TerminalText.escaped(name)), \(ByteCount.text(size)); \(text)"
            self.size = size
        }
    }

    private init(exit: WaftExit, text: String, event: EventName) {
        self.exit = exit
        self.text = text
        self.event = event
    }

    private init(_ receipt: ItemReceipt, wait: SendOptions.Wait) {
        switch receipt.outcome {
        case .failed(let fault):
            self.init(exit: WaftExit(fault.code), text: TerminalText.escaped(fault.message), event: .failed)
        case .notSent:
            self.init(exit: .unexpected, text: "it was not stored", event: .failed)
        case .stored(let name, let size, let digest):
            let shown = TerminalText.escaped(name)
            let how = receipt.isAlready ? "already there as" : "stored as"
            self.init(exit: .done, text: "\(how) \(shown), \(ByteCount.text(size))", event: .stored)
            isAlready = receipt.isAlready
            if wait == .opened { judge(receipt.handler) }
            (stored, self.size, self.digest) = (name, size, digest.description)
            if let content = receipt.content, [.lying, .mislabelled].contains(content.outcome) {
                text += "; \(content.outcome.rawValue): \(TerminalText.escaped(content.explanation))"
            }
        }
        handler = receipt.handler
        content = receipt.content?.outcome.rawValue
    }

    private mutating func judge(_ handler: HandlerAnswer) {
        let code = handler.exitCode.map { " (exit code \($0))" } ?? ""
        switch handler.state {
        case .yes:
            event = .opened
            text += ", opened"
        case .none:
            exit = .handlerSaidNo
            text += ", but no handler was asked"
        case .no:
            exit = .handlerSaidNo
            text += ", but the handler said no\(code)"
        case .later:
            exit = .handlerSaidNo
            text += ", but the handler will be asked again later\(code)"
        case .pending:
            exit = .handlerSaidNo
            text += ", but the handler has not answered in time"
        case .failed:
            exit = .handlerSaidNo
            text += ", but the handler failed\(code)"
        }
    }
}
