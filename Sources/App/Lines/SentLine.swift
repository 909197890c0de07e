import ContentCheck
import Digests
package import Sharing

/// An item of a transfer that has ended, at the sender.
package struct SentLine: Line {
    package enum Outcome: String, Codable, Sendable {
        case stored
        /// A handler has said yes, and the command waited for it.
        case opened
        /// Without a receipt.
        case sent
        case failed
    }

    package static let event = Outcome.stored.rawValue

    package var event: String { outcome.rawValue }

    /// The value of `--to`.
    package var to: String
    /// Absent for a peer without a key and a name.
    package var peer: PersonFields?
    /// The dialect of the transfer: `waft` and others.
    package var via: String
    package var transfer: String
    /// Place of the item in its offer, from 0.
    package var item: Int
    /// The name that was offered.
    package var name: String
    /// In the last line of a transfer: bytes of contents that were sent, in all attempts.
    package var moved: UInt64?
    /// The name it has in the Inbox of the other side.
    package private(set) var stored: String?
    package private(set) var size: UInt64?
    package private(set) var digest: String?
    /// The item had been stored before, and nothing was stored now.
    package private(set) var alreadyThere: Bool?
    /// Such an item was recorded as sent again: the handler's answer is about this transfer.
    package private(set) var sentAgain: Bool?
    /// The other side's comparison of content and type: `consistent`, `unverified`, `mislabelled`, `lying`.
    package private(set) var content: String?
    package private(set) var handlerAnswer: String?
    package private(set) var exitCode: Int?
    /// Why the command does not end with 0.
    package private(set) var reason: String?
    package private(set) var cause: EndCause?
    /// Absent for 0.
    package private(set) var exit: WaftExit?
    @Unsaid package private(set) var outcome: Outcome
    /// The outcome in one sentence. Not escaped.
    @Unsaid package private(set) var text: String

    /// - Parameters:
    ///   - number: its place in the offer, from 0.
    ///   - isAwaited: whether the command waited for the handlers' answers.
    package init(
        _ result: SendResult.Item, _ number: Int, of offer: Offer, to receiver: String, peer: PersonFields?,
        isAwaited: Bool
    ) {
        (to, self.peer, via, transfer) = (receiver, peer, offer.dialect.name, offer.transfer.text)
        (item, name) = (number, offer.items[number].name.text)
        (outcome, text) = (.failed, "")
        switch result {
        case .notAccepted(let verdict): fail(WaftExit(verdict.answer), OutcomeWords.line(verdict), verdict.cause)
        case .unread(let fault): fail(WaftExit(fault), fault.message, .fault)
        case .lost(let fault): fail(WaftExit(fault.code), fault.message, fault.cause)
        case .acknowledged(let receipt, _) where !offer.dialect.givesReceipts: take(receipt)
        case .acknowledged(let receipt, _): take(receipt, isAwaited: isAwaited)
        }
    }

    private mutating func fail(_ exit: WaftExit, _ text: String, _ cause: EndCause?) {
        (self.exit, self.text, reason, self.cause) = (exit, text, text, cause)
    }

    /// Some dialects give no receipt: the other side reports that it has everything, but not where or under which name.
    private mutating func take(_ receipt: ItemReceipt) {
        (outcome, text) = (.sent, "the other side says it has it")
        if case .stored(let name, let size, _) = receipt.outcome {
            (self.size, text) = (size, "sent as \(name), \(ByteCount.text(size)); \(text)")
        }
    }

    private mutating func take(_ receipt: ItemReceipt, isAwaited: Bool) {
        content = receipt.content?.outcome.rawValue
        (handlerAnswer, exitCode) = (receipt.handler.state.rawValue, receipt.handler.exitCode)
        switch receipt.outcome {
        case .failed(let fault): fail(WaftExit(fault.code), fault.message, fault.cause)
        case .notSent: fail(.unexpected, "it was not stored", .fault)
        case .stored(let name, let size, let digest):
            (outcome, stored, self.size, self.digest) = (.stored, name, size, digest.description)
            (alreadyThere, sentAgain) = (receipt.isAlready ? true : nil, receipt.isAgain ? true : nil)
            text = "\(receipt.isAlready ? "already there as" : "stored as") \(name), \(ByteCount.text(size))"
            if receipt.isAgain { text += ", sent again" }
            if isAwaited { judge(receipt) }
            if let content = receipt.content, [.lying, .mislabelled].contains(content.outcome) {
                text += "; \(content.outcome.rawValue): \(content.explanation)"
            }
            if exit != nil { reason = text }
        }
    }

    /// The command has waited for the handler's answer.
    private mutating func judge(_ receipt: ItemReceipt) {
        let code = receipt.handler.exitCode.map { " (exit code \($0))" } ?? ""
        let refusal: String? =
            switch receipt.handler.state {
            // A receiver of an earlier version: its answer is about the arrival of before.
            case _ where receipt.isAlready && !receipt.isAgain: "no handler was asked again"
            case .yes: nil
            case .none: "no handler was asked"
            case .no: "the handler said no\(code)"
            case .later: "the handler will be asked again later\(code)"
            case .pending: "the handler has not answered in time"
            case .failed: "the handler failed\(code)"
            }
        guard let refusal else {
            outcome = .opened
            text += ", opened"
            return
        }
        exit = .handlerSaidNo
        text += ", but \(refusal)"
    }
}
