package import HTTPChannel
import NIOCore
import NIOHTTP1
package import Sharing

/// The sender's side of the protocol, on one connection. Used by one task, on an executor whose threads may block.
package struct WaftClient {
    private let http: HTTPClient

    package init(_ http: HTTPClient) {
        self.http = http
    }

    /// - Parameter patience: maximum wait, including interim answers.
    /// - Throws: `TransferFault`; `notAccepted` where the peer does not show its card to us.
    package func card(patience: Duration) async throws -> Card {
        let answer = try await exchange(.GET, .card, patience: patience)
        return try WaftDialect.decode(CardMessage.self, from: answer.body).card
    }

    /// Waits for consent; cancelling the task, or closing the connection, withdraws the offer.
    /// - Parameter patience: maximum wait for consent, including interim answers.
    package func offer(_ offer: Offer, patience: Duration) async throws -> Verdict {
        let body = try WaftDialect.writer(offer).joined()
        let answer = try await exchange(
            .POST, .offers, contentType: WaftDialect.linesType, body: body, patience: patience)
        let (message, items) = try WaftDialect.lines(of: VerdictMessage.self, in: answer.body)
        return try message.verdict(items, on: offer)
    }

    /// Sends the contents of what was accepted, and waits for the receipt. What the other side has already, by the verdict
    /// and by what it has kept, is compared with the sources and not sent where it is the same.
    ///
    /// - Parameters:
    ///   - memory: what earlier attempts at this transfer have brought; takes in what this one brings.
    ///   - patience: how long the other side may be silent.
    ///   - stall: how long it may make no progress while it sends interim answers; `Limits.work` for the offered bytes
    ///     is added.
    ///   - cancellation: when it is requested, the other side is told inside the contents. Cancelling the task instead
    ///     breaks the connection off.
    ///   - progressed: called with the bytes of contents that were handed to the connection so far, or that the other side
    ///     has.
    /// - Throws: `HTTPFault` when the connection broke off, `TransferFault` when the answer makes no sense, and
    ///   `CancellationError` after the other side was told.
    package func send(
        _ offer: Offer,
        _ sources: [any ItemSource],
        verdict: Verdict,
        memory: SendMemory = SendMemory(),
        patience: Duration,
        stall: Duration = Limits.stall,
        cancellation: Cancellation,
        progressed: (_ done: UInt64, _ moved: UInt64) -> Void
    ) async throws -> SendOutcome {
        let maximum = stall + Limits.work(on: offer.knownSize)
        let writer = ContentsWriter(
            sources, verdict: verdict, stored: memory.storedDigests, contradicted: memory.contradicted,
            kept: try await kept(of: offer, sources, verdict, memory, patience: patience, maximum: maximum))
        defer { memory.note(writer) }
        var saidCancel = false
        var reader = ReceiptReader(for: offer)
        let answer = try await http.upload(
            WaftDialect.Resource.contents(offer.transfer).path,
            contentType: WaftDialect.contentsType,
            patience: patience,
            maximum: maximum,
            reader: { try reader.read($0) }
        ) {
            if saidCancel { return nil }
            progressed(writer.contentBytes, memory.movedBytes + writer.movedBytes)
            let piece = cancellation.isRequested ? nil : writer.nextPiece()
            // Asked again after the reading, which can last (standard input): what was read then is not sent any more,
            // or the end of the input that came with the interruption would make the item whole.
            guard cancellation.isRequested else { return piece }
            saidCancel = true
            return ContentsWriter.cancelPiece()
        }
        if saidCancel { throw CancellationError() }
        guard answer.status != .ok else { return outcome(try reader.finish(), nil, offer, verdict, writer, memory) }
        let (fault, receipt) = try Self.fault(of: answer, offer)
        return outcome(receipt, fault, offer, verdict, writer, memory)
    }

    /// What the other side has kept of the items that are to be sent; nil where it has said of none that it has.
    private func kept(
        of offer: Offer, _ sources: [any ItemSource], _ verdict: Verdict, _ memory: SendMemory, patience: Duration,
        maximum: Duration
    ) async throws -> KeptList? {
        let isWorthAsking = offer.items.indices.contains { number in
            verdict.items[number].answer == .accepted && verdict.items[number].hasKept && sources[number].isRepeatable
                && memory.receipt(of: number) == nil
        }
        guard isWorthAsking else { return nil }
        let answer = try await exchange(.GET, .kept(offer.transfer), patience: patience, maximum: maximum)
        return try KeptList(answer.body, verdict.digest, items: offer.items.count)
    }

    /// Asks for the receipt of a transfer that has ended.
    /// - Parameters:
    ///   - answered: wait until the handlers have answered.
    ///   - patience: how long the other side may be silent.
    ///   - maximum: how long it may take in all; nil for `patience`.
    package func receipt(
        of offer: Offer, answered: Bool, patience: Duration, maximum: Duration? = nil
    ) async throws -> Receipt {
        var reader = ReceiptReader(for: offer)
        let resource = WaftDialect.Resource.receipt(offer.transfer, answered: answered)
        _ = try await exchange(.GET, resource, patience: patience, maximum: maximum) { try reader.read($0) }
        return try reader.finish()
    }

    /// Sends a message of a pairing and waits for the answer, which can wait for the other side's user.
    ///
    /// - Parameters:
    ///   - patience: how long the other side may be silent.
    ///   - maximum: how long it may take in all; nil for `patience`.
    /// - Throws: `HTTPFault` when the connection broke off, `TransferFault` where the peer knows no pairing.
    package func pair(
        _ letter: PairingLetter, patience: Duration, maximum: Duration? = nil
    ) async throws -> PairingLetter {
        let answer = try await exchange(.POST, .pairing, body: letter.body, patience: patience, maximum: maximum)
        guard answer.body.readableBytes <= PairingLetter.byteLimit else { throw TransferFault.malformed("too long") }
        return PairingLetter(answer.body)
    }

    private func exchange(
        _ method: HTTPMethod,
        _ resource: WaftDialect.Resource,
        contentType: String = "application/json",
        body: ByteBuffer? = nil,
        patience: Duration,
        maximum: Duration? = nil,
        reader: HTTPClient.BodyReader? = nil
    ) async throws -> HTTPAnswer {
        let answer = try await http.exchange(
            method, resource.path, contentType: contentType, body: body, patience: patience, maximum: maximum,
            reader: reader)
        guard answer.status == .ok else { throw try Self.fault(of: answer, nil).fault }
        return answer
    }

    /// - Parameter offer: the offer of the transfer whose receipt may follow the fault.
    /// - Throws: `TransferFault` if the receipt is malformed.
    private static func fault(
        of answer: HTTPAnswer, _ offer: Offer?
    ) throws(TransferFault) -> (fault: TransferFault, receipt: Receipt?) {
        let isPassing = answer.status == .serviceUnavailable
        guard let (message, items) = try? WaftDialect.lines(of: FaultMessage.self, in: answer.body) else {
            // Status 503 alone means that a later attempt may succeed.
            let code: TransferFault.Code = isPassing ? .stopping : .protocolViolation
            return (TransferFault(code, "the peer answered with HTTP status \(answer.status.code)"), nil)
        }
        let code = TransferFault.Code(rawValue: message.fault) ?? (isPassing ? .stopping : .unexpected)
        let fault = TransferFault(code, message.message.cut(toBytes: FrameHeader.messageBytes))
        guard let offer else { return (fault, nil) }
        return (fault, try message.receipt(items, for: offer))
    }

    private func outcome(
        _ receipt: Receipt?,
        _ fault: TransferFault?,
        _ offer: Offer,
        _ verdict: Verdict,
        _ writer: ContentsWriter,
        _ memory: SendMemory
    ) -> SendOutcome {
        if let receipt { memory.note(receipt) }
        let sources = writer.outcomes
        let items = offer.items.indices.map { number -> SendOutcome.Item in
            guard verdict.items[number].answer == .accepted else { return .notAccepted(verdict.items[number]) }
            switch (sources[number], receipt?.items[number]) {
            case (.failed(let source), _):
                return .unread(source)
            case (.sent(let contents), let item?) where item.outcome != .notSent:
                return .acknowledged(item, sent: contents)
            case (.notReached, let item?) where item.outcome != .notSent,
                (.storedBefore, let item?) where item.outcome != .notSent:
                return .acknowledged(item, sent: memory.sent(number))
            case (.storedBefore, _):
                // Said once and for all.
                guard let before = memory.receipt(of: number) else { fallthrough }
                return .acknowledged(before, sent: memory.sent(number))
            default:
                return .lost(fault ?? TransferFault(.unexpected, "the receipt does not mention it"))
            }
        }
        return SendOutcome(items: items)
    }
}
