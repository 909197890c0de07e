import ContentCheck
import Digests
import Foundation
import NIOCore
import Sharing
import UniformTypes

extension TransferError {
    /// A message that violates the protocol.
    static func malformed(_ what: String) -> TransferError {
        TransferError(.protocolViolation, "the message is malformed: \(what)")
    }

    static var notTheJSON: TransferError { .malformed("not the JSON that was expected") }

    static var outOfBounds: TransferError { .malformed("more values, or deeper or longer ones, than any message has") }
}

extension CardMessage {
    init(_ card: Card) {
        self.init(name: card.name, device: card.device)
    }

    var card: Card {
        Card(name: PeerName.fit(name), device: PeerName.fit(device ?? "", fallback: "unknown"))
    }
}

extension OfferMessage {
    /// The message without the items.
    init(frameOf offer: Offer) {
        var annotation = offer.annotation
        let application = annotation.removeValue(forKey: SourceApplication.key)
        self.init(
            transfer: offer.transfer.text,
            sender: Sender(name: offer.senderName, application: application),
            digests: offer.digests.map(\.rawValue),
            annotation: annotation.isEmpty ? nil : annotation,
            partial: offer.takesPart ? true : nil,
            wait: offer.wait.map { UInt64(max(0, $0 / .milliseconds(1))) },
            call: offer.asksHandlers ? true : nil,
            group: offer.group.map { Lenient(GroupMessage($0)) }
        )
    }

    /// Milliseconds: a longer wait is none that ends before the receiver's own.
    private static let longestWait: UInt64 = 86_400_000

    /// - Parameter items: at most `Limits.items`.
    /// - Throws: `protocolViolation`, with the reason.
    func offer(_ items: [OfferedItem]) throws(TransferError) -> Offer {
        guard let id = TransferID(transfer) else { throw .malformed("no transfer id") }
        guard !items.isEmpty else { throw .malformed("no items") }
        var annotation = annotation ?? [:]
        let annotationBytes = annotation.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard annotationBytes <= Limits.annotationBytes else { throw .malformed("an annotation too long") }
        annotation[SourceApplication.key] = SourceApplication.valid(sender?.application)
        let digests = (digests ?? ["xxh3-128"]).prefix(16).compactMap(DigestAlgorithm.init)
        guard !digests.isEmpty else { throw .malformed("no digest that is known here") }
        var offer = Offer(
            transfer: id,
            items: items,
            annotation: annotation,
            senderName: PeerName.fit(sender?.name ?? ""),
            digests: digests,
            takesPart: partial ?? false,
            dialect: .waft
        )
        offer.asksHandlers = call ?? false
        offer.group = group?.value?.offered
        if let wait, (1...Self.longestWait).contains(wait) { offer.wait = .milliseconds(wait) }
        return offer
    }
}

extension OfferMessage.Item {
    init(_ item: OfferedItem) {
        self.init(
            kind: item.kind.rawValue,
            name: item.name.text,
            type: item.type.identifier,
            size: item.size,
            entries: item.kind == .tree ? item.entries : nil,
            needs: item.needs.map(OfferMessage.Needs.init),
            preview: item.preview.map(OfferMessage.Preview.init)
        )
    }

    var offered: OfferedItem {
        get throws(TransferError) {
            guard let kind = ItemKind(rawValue: kind) else { throw .malformed("an item of unknown kind") }
            guard let type = UniformType(type) else { throw .malformed("an item of no type") }
            if let size, size > Limits.itemBytes { throw .malformed("an item of \(size) bytes") }
            let entries = kind == .tree ? entries ?? 1 : 1
            guard (1...Limits.entriesPerItem).contains(entries) else {
                throw .malformed("an item of \(entries) entries")
            }
            do {
                var item = OfferedItem(
                    kind: kind, name: try SafeName(name), type: type, size: size, entries: entries)
                if kind == .tree { item.needs = needs?.ofDisk }
                return item
            } catch {
                throw TransferError(.unsafeName, "an item cannot be stored: \(error.said(of: name))")
            }
        }
    }
}

extension OfferMessage.Needs {
    fileprivate init(_ needs: DiskNeeds) {
        self.init(
            links: needs.links ? true : nil, characters: needs.characters.isEmpty ? nil : needs.characters,
            case: needs.alike ? true : nil, name: needs.longestName == 0 ? nil : UInt64(needs.longestName))
    }

    fileprivate var ofDisk: DiskNeeds {
        var needs = DiskNeeds()
        needs.add(characters ?? "", isFile: false)
        (needs.links, needs.alike) = (links ?? false, self.case ?? false)
        needs.longestName = Int(min(name ?? 0, UInt64(SafeName.maximumBytes)))
        return needs
    }
}

extension OfferMessage.Preview {
    fileprivate init(_ preview: ItemPreview) {
        self.init(type: preview.type, data: Data(preview.bytes).base64EncodedString())
    }

    /// - Parameter text: the JSON value, foreign.
    /// - Returns: nil for anything but a preview within its bounds.
    static func read(_ text: ByteBuffer) -> ItemPreview? {
        guard let message = try? WaftDialect.parse(Self.self, from: text),
            let data = Data(base64Encoded: message.data)
        else { return nil }
        return ItemPreview(Array(data), saying: message.type)
    }
}

extension VerdictMessage {
    /// The message, and the items whose answers differ from its `default`.
    static func lines(_ verdict: Verdict) -> (message: Self, items: [Item]) {
        // Most items get the same answer: the message states it once.
        let first = verdict.items.first ?? ItemVerdict(.declined)
        let common = ItemVerdict(first.answer, reason: first.reason, cause: first.cause)
        var others: [Item] = []
        for (number, var item) in verdict.items.enumerated() {
            // The sender does not learn these fields.
            (item.destination, item.admittedAs) = (.usual, [])
            if item == common { continue }
            others.append(
                Item(
                    item: number, answer: item.answer.rawValue, reason: item.reason,
                    cause: item.unusualCause?.rawValue,
                    kept: item.hasKept ? true : nil, present: item.present?.description))
        }
        let message = Self(
            digest: verdict.digest.rawValue, default: common.answer.rawValue,
            reason: common.reason.isEmpty ? nil : common.reason, cause: common.unusualCause?.rawValue,
            relay: verdict.mayRelay ? Lenient(RelayMessage(may: true)) : nil)
        return (message, others)
    }

    /// The answer to all items of an offer that may not have been read.
    init(refusing verdict: ItemVerdict) {
        self.init(
            digest: DigestAlgorithm.xxh3_128.rawValue, default: verdict.answer.rawValue,
            reason: verdict.reason.isEmpty ? nil : verdict.reason, cause: verdict.unusualCause?.rawValue)
    }

    /// - Parameters:
    ///   - items: the answers that differ from `default`.
    ///   - offer: the offer it answers.
    func verdict(_ items: [Item], on offer: Offer) throws(TransferError) -> Verdict {
        let named = DigestAlgorithm(rawValue: digest).flatMap { offer.digests.contains($0) ? $0 : nil }
        // A receiver that refuses everything may not have read the offered digests.
        guard let digest = named ?? (items.isEmpty && self.default != "accepted" ? offer.digests.first : nil) else {
            throw .malformed("a digest that was not offered")
        }
        let common = Self.itemVerdict(self.default, reason, cause)
        var answers = Array(repeating: common, count: offer.items.count)
        for item in items {
            guard answers.indices.contains(item.item) else { throw .malformed("an answer to no item") }
            answers[item.item] = Self.itemVerdict(item.answer, item.reason, item.cause)
            answers[item.item].hasKept = item.kept ?? false
            // Ignores a digest by an algorithm that this transfer does not use.
            answers[item.item].present = item.present.flatMap(Digest.init).flatMap { $0.algorithm == digest ? $0 : nil }
        }
        var verdict = Verdict(items: answers, digest: digest)
        verdict.mayRelay = offer.group != nil && relay?.value?.may ?? false
        return verdict
    }

    private static func itemVerdict(_ answer: String, _ reason: String?, _ cause: String?) -> ItemVerdict {
        let line = (reason ?? "").cut(toBytes: FrameHeader.messageBytes)
        let answer = ItemVerdict.Answer(rawValue: answer) ?? .declined
        return ItemVerdict(
            answer, reason: line, cause: answer == .accepted ? nil : cause.flatMap(EndCause.init(rawValue:)))
    }
}

// A cause is only written where the answer or the code does not tell it: so every message of an earlier version has one.

extension ItemVerdict {
    fileprivate var unusualCause: EndCause? { causeForSender == answer.usualCause ? nil : causeForSender }
}

extension TransferError {
    var unusualCause: EndCause? { cause == code.usualCause ? nil : cause }

    /// - Parameters:
    ///   - code: an unknown one reads as `unexpected`.
    ///   - cause: an unknown one reads as the usual one of the code.
    init(code: String?, message: String, cause: String?) {
        self.init(
            code.flatMap(Code.init) ?? .unexpected, message.cut(toBytes: FrameHeader.messageBytes),
            cause: cause.flatMap(EndCause.init(rawValue:)))
    }
}

extension ReceiptMessage {
    /// - Parameter offer: the offer of the transfer.
    func receipt(_ items: [ItemReceipt], for offer: Offer) throws(TransferError) -> Receipt {
        guard transfer == offer.transfer.text, items.count == offer.items.count else {
            throw .malformed("a receipt of something else")
        }
        return Receipt(transfer: offer.transfer, items: items)
    }
}

extension ReceiptMessage.Item {
    init(_ item: ItemReceipt) {
        switch item.outcome {
        case .stored(let name, let size, let digest):
            self.init(state: "stored", name: name, size: size, digest: digest.description)
            // A receipt can have thousands of items, so it omits the usual answer.
            if item.handler.state != .none {
                handler = ReceiptMessage.Handler(state: item.handler.state.rawValue, exit: item.handler.exitCode)
            }
            content = item.content.map { content in
                ReceiptMessage.Content(
                    outcome: content.outcome.rawValue,
                    type: content.contentType?.identifier,
                    explanation: content.explanation.cut(toBytes: FrameHeader.messageBytes)
                )
            }
            already = item.isAlready ? true : nil
            again = item.isAgain ? true : nil
        case .failed(let fault):
            self.init(
                state: "failed", fault: fault.code.rawValue, message: fault.message, cause: fault.unusualCause?.rawValue
            )
        case .notSent:
            self.init(state: "notSent")
        }
    }

    var receipt: ItemReceipt {
        get throws(TransferError) {
            switch state {
            case "stored":
                guard let name, let size, let digest = digest.flatMap(Digest.init) else {
                    throw .malformed("a receipt without name, size or digest")
                }
                guard let stored = try? SafeName(name) else {
                    throw .malformed("a receipt with a name that no item can have")
                }
                let state = handler.map { HandlerAnswer.State(rawValue: $0.state) ?? .failed } ?? .none
                var receipt = ItemReceipt(
                    .stored(name: stored.text, size: size, digest: digest),
                    handler: HandlerAnswer(state, exitCode: handler?.exit),
                    content: content?.verdict,
                    isAlready: already ?? false
                )
                receipt.isAgain = again ?? false
                return receipt
            case "notSent":
                return ItemReceipt(.notSent)
            default:
                let line = message ?? "it was not stored"
                return ItemReceipt(.failed(TransferError(code: fault, message: line, cause: cause)))
            }
        }
    }
}

extension ReceiptMessage.Content {
    /// - Returns: nil for an unknown outcome.
    fileprivate var verdict: ContentVerdict? {
        guard let outcome = ContentVerdict.Outcome(rawValue: outcome) else { return nil }
        let explanation = (explanation ?? "").cut(toBytes: FrameHeader.messageBytes)
        return ContentVerdict(outcome, type.flatMap { UniformType($0) }, explanation)
    }
}
