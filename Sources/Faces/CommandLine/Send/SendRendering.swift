import Lines
import Operations
import Sharing
import Synchronization

/// Shows how a sending goes: for people, or as JSON events.
final class SendRendering: Sendable {
    /// The state of the sending to one peer.
    private struct PeerState {
        var peer: Person
        /// The item, or how many there are; escaped.
        var items = ""
        var progress: ProgressLine?
        /// Whether the line about the part that was there before has been printed.
        var hasToldKept = false
        var cancellation = SendCancellation()
    }

    private struct State {
        var courses: [String: PeerState] = [:]
        var whole: WholeProgress

        /// - Parameter peer: as it was named.
        func name(of peer: String) -> String { courses[peer]?.peer.line ?? TerminalText.escaped(peer, limit: 64) }
    }

    /// A window that shows the sending in place of the terminal.
    struct Window: Sendable {
        /// The items in a sentence; escaped.
        let items: String
        /// Gets the lines about the result.
        let told: @Sendable (String) -> Void
        /// Gets the steps.
        let show: @Sendable (DialogStep) -> Void
    }

    private let json: Bool
    private let quiet: Bool
    private let progress: ProgressStyle
    private let peers: Int
    private let sources: [any ItemSource]
    /// Nil for the terminal.
    private let window: Window?
    private let state: Mutex<State>
    private let throttle = Throttle()

    init(
        json: Bool, quiet: Bool, progress: ProgressStyle = .bar, peers: Int, sources: [any ItemSource],
        window: Window? = nil, canBegin: Bool = false
    ) {
        self.json = json
        self.quiet = quiet
        self.progress = json || quiet ? .none : progress
        self.peers = peers
        self.sources = sources
        self.window = window
        state = Mutex(State(whole: WholeProgress(peers: peers, canBegin: canBegin)))
    }

    /// Whether all peers share one line.
    private var isWhole: Bool { peers > 1 && progress == .bar && window == nil }

    func show(_ step: SendStep, to peer: String) {
        if json {
            if step.isProgress, !throttle.isDue() { return }
            for line in step.lines { print(line) }
            return
        }
        switch step {
        case .connected(let person):
            state.withLock { state in
                state.courses[peer] = PeerState(peer: person)
                state.whole.asks(peer, person.name)
            }
            status("waiting for \(person.line) to accept \(window?.items ?? Glyph.ellipsis)")
        case .remarked(let line):
            Console.shared.endStatus()
            note(TerminalText.escaped(line.reason, limit: 1_000))
        case .offered(let offer):
            let only = offer.count == 1 ? offer.items.first : nil
            let items = only.map { TerminalText.escaped($0.name) } ?? "\(offer.count) items"
            let again: SendCancellation.Again =
                sources.allSatisfy(\.isRepeatable) ? offer.resumes ? .resumes : .begins : .needsInput
            state.withLock { state in
                state.courses[peer]?.items = items
                state.courses[peer]?.cancellation.again = again
            }
        case .answered(let verdict):
            guard verdict.acceptedCount > 0 else { break }
            state.withLock { $0.whole.accepts(peer) }
            if isWhole { showWhole() }
        case .busy(let line):
            let name = state.withLock { $0.name(of: peer) }
            if line.cause == .receiverStopped {
                status("\(name) stopped receiving; trying again \(Glyph.ellipsis)")
            } else {
                let why = line.reason.map { " (\(TerminalText.escaped($0, limit: 400)))" } ?? ""
                status("\(name) is busy\(why); trying again \(Glyph.ellipsis)")
            }
        case .progressed(let line): progressed(line.bytes, line.total, line.moved, to: peer)
        case .resuming(let line):
            if let window {
                window.show(
                    DialogStep(text: "\(TerminalText.escaped(line.reason, limit: 200)); resuming \(Glyph.ellipsis)"))
            } else if !quiet {
                Console.shared.endStatus()
                note("\(TerminalText.escaped(line.reason, limit: 1_000)); resuming \(Glyph.ellipsis)")
            }
        case .settled:
            Console.shared.endStatus()
        case .handling:
            let name = state.withLock { state in
                state.courses[peer]?.cancellation.isStored = true
                return state.name(of: peer)
            }
            status("stored at \(name); waiting for its handlers \(Glyph.ellipsis)")
        case .ended(let lines): end(lines, to: peer)
        case .failed(let line, let advice):
            Console.shared.endStatus()
            state.withLock { state in
                state.courses[peer] = nil
                state.whole.ends(peer)
            }
            note(([line.reason] + advice).map { TerminalText.escaped($0, limit: 1_000) }.joined(separator: "\n  "))
        }
    }

    private func print(_ line: some Line) { OutputOptions(json: true).show(line, as: []) }

    private func note(_ text: String) { window.map { $0.told(text) } ?? Console.shared.note("waft: \(text)") }

    /// Shows the state until the next one.
    private func status(_ text: String) {
        // Several peers share one line; their names stand below it.
        if isWhole { return showWhole() }
        if let window { return window.show(DialogStep(text: text.prefix(1).uppercased() + text.dropFirst())) }
        switch progress {
        case .bar: Console.shared.status(text)
        case .lines: Console.shared.note(text)
        case .none: break
        }
    }

    private func progressed(_ bytes: UInt64, _ total: UInt64?, _ moved: UInt64, to peer: String) {
        state.withLock { state in
            state.courses[peer]?.cancellation.bytes = bytes
            state.courses[peer]?.cancellation.total = total
        }
        guard window != nil || progress == .lines || (progress == .bar && Console.shared.isInteractive) else { return }
        let now = ContinuousClock.now
        if isWhole { state.withLock { $0.whole.moves(peer, bytes, of: total, moved: moved) } }
        guard throttle.isDue(at: now) else { return }
        if isWhole { return showWhole() }
        let (text, kept): (String?, String?) = state.withLock { state in
            guard var course = state.courses[peer] else { return (nil, nil) }
            let kept = course.hasToldKept ? nil : ResumeWords.line(bytes: bytes, of: total, moved: moved)
            course.hasToldKept = course.hasToldKept || kept != nil
            var line =
                course.progress ?? ProgressLine("\(course.items) \(Glyph.arrow) \(course.peer.name)", total: total)
            let text: String?
            if let window {
                let facts = line.facts(bytes: bytes, moved: moved, at: now)
                text = "Sending \(window.items) to \(course.peer.line): \(facts)"
            } else if progress == .lines {
                text = line.step(bytes: bytes, moved: moved, at: now)
            } else {
                text = line.text(bytes: bytes, moved: moved, at: now, width: Console.shared.width - 1)
            }
            course.progress = line
            state.courses[peer] = course
            return (text, kept.map { "\(course.items) \(Glyph.arrow) \(course.peer.line): \($0)" })
        }
        if let kept, window == nil { Console.shared.note(kept) }
        guard let text else { return }
        guard let window else { return status(text) }
        window.show(DialogStep(text: text, percent: total.map { Int(Double(bytes) / Double(max($0, 1)) * 100) }))
    }

    private func showWhole() {
        let lines = state.withLock { state in
            let items = state.courses.values.lazy.map(\.items).first { !$0.isEmpty } ?? ""
            return state.whole.lines(items, at: .now, width: Console.shared.width - 1)
        }
        Console.shared.status(lines)
    }

    // MARK: The end

    /// Prints the outcome of each item.
    private func end(_ lines: [SentLine], to peer: String) {
        Console.shared.endStatus()
        let receiver = state.withLock { state in
            defer { state.courses[peer] = nil }
            state.whole.ends(peer)
            return state.name(of: peer)
        }
        for (source, line) in zip(sources, lines) where line.exit != nil || !quiet {
            let shown = TerminalText.escaped(["text", "url"].contains(source.origin) ? line.name : source.origin)
            let text =
                "\(shown) \(Glyph.arrow) \(receiver): " + TerminalText.escaped(line.text, limit: 4_096)
            if line.exit != nil {
                note(text)
            } else {
                window.map { $0.told(text) } ?? Console.shared.result(text)
            }
        }
        guard let window, lines.count > 1 else { return }
        window.told("\(lines.count { $0.exit == nil }) of \(lines.count) items arrived at \(receiver)")
    }

    func done(_ exit: WaftExit) {
        Console.shared.endStatus()
        if json {
            print(DoneLine(exit: exit))
        } else if exit == .interrupted {
            for line in cancellations { note(line) }
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

/// The progress of a sending when the user ended it, and how to resume it.
struct SendCancellation: Equatable {
    enum Again: Equatable {
        /// The other side keeps the part that has arrived.
        case resumes
        /// The protocol keeps nothing.
        case begins
        /// Standard input cannot be read twice.
        case needsInput
    }

    /// Bytes that have arrived, with those that were there before.
    var bytes: UInt64 = 0
    /// Of all accepted items; nil if unknown.
    var total: UInt64?
    var again = Again.resumes
    /// Whether the sending waited for handlers only.
    var isStored = false

    var text: String {
        if isStored { return "everything is stored; the answers of handlers were not waited for" }
        guard bytes > 0 else { return "cancelled; nothing was sent" }
        let advice =
            switch again {
            case .resumes: "run the same command to resume"
            case .begins: "run the same command to send it again from the beginning"
            case .needsInput: "standard input cannot be read again: run the whole pipeline again"
            }
        return "cancelled at \(amount); \(advice)"
    }

    /// `30.4 of 60.0 MB`: a unit that both amounts have stands once.
    private var amount: String {
        let done = ByteCount.text(bytes)
        guard let total else { return done }
        let all = ByteCount.text(total)
        let (part, whole) = (done.split(separator: " "), all.split(separator: " "))
        return part.last == whole.last ? "\(part[0]) of \(all)" : "\(done) of \(all)"
    }
}

/// The words for a sending of which a part was on the other side before.
enum ResumeWords {
    /// - Parameters:
    ///   - bytes: on the other side now.
    ///   - moved: bytes that were sent until now.
    /// - Returns: nil if nothing was there before, or nothing is left to send.
    static func line(bytes: UInt64, of total: UInt64?, moved: UInt64) -> String? {
        guard bytes > moved, bytes < total ?? .max else { return nil }
        return "resuming: \(ByteCount.text(bytes - moved)) of \(total.map(ByteCount.text) ?? "it") are there already"
    }
}
