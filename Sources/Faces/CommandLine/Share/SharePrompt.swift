import Executors
import Glibc
import Lines
import Operations
import Sharing

/// Shows a list of peers and activities on the terminal, and asks until a row is chosen: by keys if the terminal can draw the list again,
/// else by typed lines.
struct SharePrompt {
    /// The list is shown after this time, with the peers that were found; later ones get the next numbers.
    private static let firstLook: Duration = .seconds(1)
    /// Time without a found peer after which the user gets the advice.
    private static let silence: Duration = .seconds(3)

    /// How long the Escape key waits for the rest of another key, which may come later over a network.
    private static let escapePause: Duration = .milliseconds(50)
    /// Each must leave the terminal as it was.
    static let signals = EndSignals.ending.union([SIGHUP, SIGQUIT])

    /// Asks for a line.
    let question: String
    /// Asks where keys choose.
    let keyQuestion: String
    /// Shown if no peer is found for a while; nil for none.
    var advice: String?

    private enum Input: Sendable {
        case peers(SharePeers.Event)
        case open
        case late
        case line(String)
        case bytes([UInt8])
        /// No byte has followed for a moment.
        case pause
        case interrupted
        case end
    }

    enum Choice {
        case row(ShareSheet.Answer)
        case givenUp
        /// By Ctrl-C.
        case interrupted
    }

    /// - Parameters:
    ///   - lines: shown before the list, escaped.
    ///   - peers: nil if items are not sent.
    func choose(from sheet: ShareSheet, _ lines: [String], _ peers: SharePeers?) async -> Choice {
        // Before the question: a Ctrl-C may come as soon as it can be read.
        let signals = EndSignals.watched(Self.signals)
        let mode = Console.shared.isInteractive ? TerminalMode(without: ECHO | ICANON) : nil
        defer { mode?.end() }
        for line in lines { Console.shared.note(line) }
        return await withTaskGroup(of: Void.self) { group in
            let (inputs, feed) = AsyncStream<Input>.makeStream()
            if let peers {
                group.addTask {
                    for await event in peers.events(for: nil) { feed.yield(.peers(event)) }
                    feed.yield(.late)
                }
            }
            group.addTask {
                if peers != nil { try? await Task.sleep(for: Self.firstLook) }
                feed.yield(.open)
                if peers != nil { try? await Task.sleep(for: Self.silence - Self.firstLook) }
                feed.yield(.late)
            }
            group.addTask { for await _ in signals { feed.yield(.interrupted) } }
            group.addTask {
                if mode == nil {
                    for await line in LineReader.terminalLines() { feed.yield(.line(line)) }
                } else {
                    for await bytes in TypedLines.read(TypedLines.openTerminal, { Array($0) }) {
                        feed.yield(.bytes(bytes))
                    }
                }
                feed.yield(.end)
            }
            defer { group.cancelAll() }
            guard mode != nil else { return await choose(from: inputs, sheet) }
            return await pick(from: inputs, SharePicker(sheet)) {
                try? await Task.sleep(for: Self.escapePause)
                feed.yield(.pause)
            }
        }
    }

    private func choose(from inputs: AsyncStream<Input>, _ sheet: ShareSheet) async -> Choice {
        var (sheet, advice) = (sheet, self.advice)
        for await input in inputs {
            switch input {
            case .peers(.found(let peer)):
                advice = nil
                if let line = sheet.found(peer) { Console.shared.note(line) }
            case .peers(.gone(let id)):
                if let line = sheet.gone(id) { Console.shared.note(line) }
            case .peers(.trouble(let reason)):
                Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
            case .open:
                for line in sheet.open(width: Console.shared.width) { Console.shared.note(line) }
                Console.shared.prompt(question)
            case .late:
                if let advice = advice.take() { Console.shared.note(advice) }
            case .line(let line):
                Console.shared.answered()
                switch sheet.answer(to: line) {
                case .givenUp: return .givenUp
                case .unclear(let why):
                    if !why.isEmpty { Console.shared.note(why) }
                    if sheet.isOpen { Console.shared.prompt(question) }
                case let answer: return .row(answer)
                }
            case .interrupted:
                Console.shared.endLine()
                return .interrupted
            case .end:
                Console.shared.endLine()
                return .givenUp
            case .bytes, .pause: break
            }
        }
        return .givenUp
    }

    /// - Parameter wait: puts a pause into the inputs after a moment.
    private func pick(
        from inputs: AsyncStream<Input>, _ picker: SharePicker, wait: @escaping @Sendable () async -> Void
    ) async -> Choice {
        var (picker, advice, keys) = (picker, self.advice, TerminalKeys())
        for await input in inputs {
            var pressed: [TerminalKey] = []
            switch input {
            case .peers(.found(let peer)):
                advice = nil
                picker.found(peer)
            case .peers(.gone(let id)): picker.gone(id)
            case .peers(.trouble(let reason)):
                Console.shared.note("waft: \(TerminalText.escaped(reason, limit: 400))")
            case .open: picker.open()
            case .late:
                if let advice = advice.take() { Console.shared.note(advice) }
            case .bytes(let bytes):
                pressed = keys.take(bytes)
                if keys.isPending { Task { await wait() } }
            case .pause: pressed = keys.pause()
            case .interrupted:
                Console.shared.endStatus()
                return .interrupted
            case .end: pressed = [.end]
            case .line: break
            }
            for key in pressed where picker.sheet.isOpen || [.escape, .end].contains(key) {
                switch picker.press(key) {
                case .unclear(let why):
                    if !why.isEmpty { Console.shared.note(why) }
                case .givenUp:
                    Console.shared.endStatus()
                    return .givenUp
                case let answer?:
                    // The choice stays on the terminal.
                    Console.shared.note(keyQuestion + picker.sheet.name(of: answer))
                    return .row(answer)
                case nil: break
                }
            }
            guard picker.sheet.isOpen else { continue }
            Console.shared.status(
                picker.lines(keyQuestion, width: Console.shared.width, height: Console.shared.height))
        }
        return .givenUp
    }
}
