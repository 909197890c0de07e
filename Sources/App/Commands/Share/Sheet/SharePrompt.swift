import Sharing
import Streams

/// Shows a list of peers and activities on the terminal, and asks until a row is chosen.
struct SharePrompt {
    /// The list is shown after this time, with the peers that were found; later ones get the next numbers.
    private static let firstLook: Duration = .seconds(1)
    /// Time without a found peer after which the user gets the advice.
    private static let silence: Duration = .seconds(3)

    let question: String
    /// Shown if no peer is found for a while; nil for none.
    var advice: String?

    private enum Input: Sendable {
        case peers(SharePeers.Event)
        case open
        case late
        case line(String)
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
        let signals = EndSignals.watched()
        for line in lines { Console.shared.note(line) }
        return await withTaskGroup(of: Void.self) { group in
            let inputs = Mailbox<Input>()
            if let peers {
                group.addTask {
                    for await event in peers.events(for: nil) { inputs.post(.peers(event)) }
                    inputs.post(.late)
                }
            }
            group.addTask {
                if peers != nil { try? await Task.sleep(for: Self.firstLook) }
                inputs.post(.open)
                if peers != nil { try? await Task.sleep(for: Self.silence - Self.firstLook) }
                inputs.post(.late)
            }
            group.addTask { for await _ in signals { inputs.post(.interrupted) } }
            group.addTask {
                for await line in LineReader.terminalLines() { inputs.post(.line(line)) }
                inputs.post(.end)
            }
            defer { group.cancelAll() }
            return await choose(from: inputs, sheet)
        }
    }

    private func choose(from inputs: Mailbox<Input>, _ sheet: ShareSheet) async -> Choice {
        var (sheet, advice) = (sheet, self.advice)
        for await input in inputs {
            switch input {
            case .peers(.found(let peer)):
                advice = nil
                if let line = sheet.found(peer) { Console.shared.note(line) }
            case .peers(.gone(let id)):
                if let line = sheet.gone(id) { Console.shared.note(line) }
            case .peers(.trouble(let reason)): Console.shared.note("waft: \(reason)")
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
            }
        }
        return .givenUp
    }
}
