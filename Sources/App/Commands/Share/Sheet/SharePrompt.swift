import Sharing
import Streams

/// Shows the sheet on the terminal, and asks until a row is chosen.
enum SharePrompt {
    /// The list is shown after this time, with the peers that were found; later ones get the next numbers.
    private static let firstLook: Duration = .seconds(1)

    private enum Input: Sendable {
        case peers(SharePeers.Event)
        case open
        case line(String)
        case interrupted
        case end
    }

    /// - Parameter peers: nil if items are not sent.
    /// - Returns: the chosen row; nil if the user gave up.
    static func choose(from sheet: ShareSheet, _ items: ShareItems, _ peers: SharePeers?) async -> ShareSheet.Answer? {
        for line in items.lines { Console.shared.note(line) }
        let signals = EndSignals.watched()
        return await withTaskGroup(of: Void.self) { group in
            let inputs = Mailbox<Input>()
            if let peers {
                group.addTask { for await event in peers.events(for: nil) { inputs.post(.peers(event)) } }
            }
            group.addTask {
                if peers != nil { try? await Task.sleep(for: firstLook) }
                inputs.post(.open)
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

    private static func choose(from inputs: Mailbox<Input>, _ sheet: ShareSheet) async -> ShareSheet.Answer? {
        var sheet = sheet
        for await input in inputs {
            switch input {
            case .peers(.found(let peer)):
                if let line = sheet.found(peer) { Console.shared.note(line) }
            case .peers(.gone(let id)):
                if let line = sheet.gone(id) { Console.shared.note(line) }
            case .peers(.trouble(let reason)): Console.shared.note("waft: \(reason)")
            case .open:
                for line in sheet.open(width: Console.shared.width) { Console.shared.note(line) }
                Console.shared.prompt(ShareSheet.question)
            case .line(let line):
                Console.shared.answered()
                switch sheet.answer(to: line) {
                case .givenUp: return nil
                case .unclear(let why):
                    if !why.isEmpty { Console.shared.note(why) }
                    if sheet.isOpen { Console.shared.prompt(ShareSheet.question) }
                case let answer: return answer
                }
            case .interrupted, .end:
                Console.shared.endLine()
                return nil
            }
        }
        return nil
    }
}
