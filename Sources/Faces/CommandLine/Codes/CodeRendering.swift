import Lines
import Operations
import Sharing
import Synchronization

/// Shows how a transfer by a spoken code goes: for people, or as JSON events.
final class CodeRendering: Sendable {
    let output: OutputOptions
    /// Whether this side sends.
    let isSending: Bool
    private let progress = ReceivingProgress()
    private let hasArrived = Mutex(false)

    init(json: Bool, isSending: Bool) {
        (output, self.isSending) = (OutputOptions(json: json), isSending)
    }

    func looking(for code: Codes.Typed) {
        output.note("Looking for the machine that shows \(code.text) \(Glyph.ellipsis)")
    }

    func show(_ step: Codes.Step) {
        switch step {
        case .open(let line):
            output.show(line)
            let command = (isSending ? "waft receive" : "waft send FILE --to-code") + " \(line.code ?? "")"
            let (place, use) =
                switch line.people {
                case nil: ("the other machine", "good for one try")
                case 1: ("the last machine", "good for one try")
                case let people?:
                    ("each machine", "good for \(people) people; your key: \(line.ownKey ?? "")")
                }
            output.note("On \(place): \(command)  (\(use); shown as \(line.shownKey ?? ""))")
        case .spent(let line):
            output.show(line, as: [])
            let address = line.address.map { " from \(TerminalText.escaped($0))" } ?? ""
            output.note("A wrong try\(address): \(TerminalText.escaped(line.reason, limit: 400)). That code is spent.")
        case .met(let line):
            output.show(line, as: [])
            let key = line.peer.contact == nil ? "" : " (\(line.key))"
            output.note("\(line.peer.line(via: nil))\(key) has the same code.")
            if let warning = line.warning { output.note("  \(TerminalText.escaped(warning, limit: 400))") }
        case .remembered(let line?): output.show(line)
        case .remembered(nil):
            output.note("It is not remembered: the other side does not say --remember.")
        case .moved(let line):
            if output.json { return output.show(line, as: []) }
            if let text = progress.text(line) { Console.shared.status(text) }
        case .arrived(let line):
            guard line.change == .stored else { return output.json ? output.show(line, as: []) : () }
            Console.shared.endStatus()
            hasArrived.withLock { $0 = true }
            output.show(line, as: ["\(TerminalText.escaped(line.path, limit: 4_096))  \(ByteCount.text(line.size))"])
        case .ended(let line):
            Console.shared.endStatus()
            output.show(line, as: [])
            guard let reason = line.reason.map({ TerminalText.escaped($0, limit: 400) }) else {
                if line.missing == 0, !hasArrived.withLock({ $0 }) {
                    output.note("All of it was in the Inbox already.")
                }
                return
            }
            output.note(line.isFailed ? "The transfer broke off: \(reason). The sender may resume it." : reason)
        }
    }
}

extension CodeSpentLine: WordedLine {
    var words: [String] { [] }
}
