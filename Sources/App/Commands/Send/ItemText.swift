import ContentCheck
import Digests
import Endpoints
import Lines
import Sharing

/// The outcome of one item, in words and as an exit code.
struct ItemText {
    var exit: WaftExit
    /// Escaped.
    var text: String
    private(set) var result: Result
    private var findings = EventLine.Findings()

    enum Result {
        case stored(EventLine.SentCopy)
        /// A handler has said yes, and the command waited for it.
        case opened(EventLine.SentCopy)
        /// Without a receipt; the size, if it is known.
        case sent(UInt64?)
        case failed(EndCause?)
    }

    /// - Parameter dialect: the protocol of the transfer, on which the words depend.
    init(_ item: SendResult.Item, wait: SendOptions.Wait, by dialect: Dialect) {
        switch item {
        case .notAccepted(let verdict):
            self.init(exit: WaftExit(verdict.answer), text: OutcomeWords.line(verdict), .failed(verdict.cause))
        case .unread(let fault):
            self.init(exit: WaftExit(fault), text: TerminalText.escaped(fault.message, limit: 1_000), .failed(.fault))
        case .lost(let fault):
            self.init(exit: WaftExit(fault.code), text: TerminalText.escaped(fault.message), .failed(fault.cause))
        case .acknowledged(let receipt, _) where !dialect.givesReceipts:
            self.init(taken: receipt)
        case .acknowledged(let receipt, _):
            self.init(receipt, wait: wait)
        }
    }

    /// Some dialects give no receipt: the other side reports that it has everything, but not where or under which name.
    private init(taken receipt: ItemReceipt) {
        self.init(exit: .done, text: "the other side says it has it", .sent(nil))
        if case .stored(let name, let size, _) = receipt.outcome {
            text = "sent as \(TerminalText.escaped(name)), \(ByteCount.text(size)); \(text)"
            result = .sent(size)
        }
    }

    private init(exit: WaftExit, text: String, _ result: Result) {
        self.exit = exit
        self.text = text
        self.result = result
    }

    private init(_ receipt: ItemReceipt, wait: SendOptions.Wait) {
        switch receipt.outcome {
        case .failed(let fault):
            self.init(exit: WaftExit(fault.code), text: TerminalText.escaped(fault.message), .failed(fault.cause))
        case .notSent:
            self.init(exit: .unexpected, text: "it was not stored", .failed(.fault))
        case .stored(let name, let size, let digest):
            let shown = TerminalText.escaped(name)
            let how = receipt.isAlready ? "already there as" : "stored as"
            let copy = EventLine.SentCopy(
                stored: name, size: size, digest: digest.description, alreadyThere: receipt.isAlready ? true : nil,
                sentAgain: receipt.isAgain ? true : nil)
            self.init(exit: .done, text: "\(how) \(shown), \(ByteCount.text(size))", .stored(copy))
            if receipt.isAgain { text += ", sent again" }
            if wait == .opened {
                if receipt.isAlready, !receipt.isAgain {
                    // A receiver of an earlier version: its answer is about the arrival of before.
                    exit = .handlerSaidNo
                    text += ", but no handler was asked again"
                } else {
                    judge(receipt.handler, copy)
                }
            }
            if let content = receipt.content, [.lying, .mislabelled].contains(content.outcome) {
                text += "; \(content.outcome.rawValue): \(TerminalText.escaped(content.explanation))"
            }
        }
        findings = EventLine.Findings(
            content: receipt.content?.outcome.rawValue, handlerAnswer: receipt.handler.state.rawValue,
            exitCode: receipt.handler.exitCode)
    }

    private mutating func judge(_ handler: HandlerAnswer, _ copy: EventLine.SentCopy) {
        let code = handler.exitCode.map { " (exit code \($0))" } ?? ""
        switch handler.state {
        case .yes:
            result = .opened(copy)
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

    func event(of item: EventLine.SentItem) -> EventLine {
        switch result {
        case .stored(let copy) where exit == .done: .stored(.sent(item, copy, findings))
        case .stored(let copy):
            .stored(.sentUnopened(item, copy, findings, EventLine.ExitReason(reason: text, exit: exit)))
        case .opened(let copy): .opened(.sent(item, copy, findings))
        case .sent(let size): .sent(EventLine.Sent(item: item, size: size))
        case .failed(let cause):
            .failed(.sentItem(item, findings, EventLine.ExitReason(reason: text, cause: cause, exit: exit)))
        }
    }
}
