package import HTTPChannel
import NIOCore
import NIOHTTP1
package import Pairing
package import Sharing

/// The sender's side of the protocol, on one connection. One task uses it, on an executor whose threads may block.
package struct WaftClient {
    private let http: HTTPClient

    package init(_ http: HTTPClient) {
        self.http = http
    }

    /// - Parameter patience: maximum wait, including interim answers.
    /// - Throws: `TransferFault`; `notAccepted` if the peer hides its card from this sender.
    package func card(patience: Duration) async throws -> Card {
        let answer = try await exchange(.GET, .card, patience: patience)
        return try WaftDialect.decode(CardMessage.self, from: answer.body).card
    }

    /// Waits for consent. Cancelling the task or closing the connection withdraws the offer.
    /// - Parameter patience: maximum wait for consent, including interim answers.
    package func offer(_ offer: Offer, patience: Duration) async throws -> Verdict {
        let body = try WaftDialect.writer(offer).joined()
        let answer = try await exchange(
            .POST, .offers, contentType: WaftDialect.linesType, body: body, patience: patience)
        let (message, items) = try WaftDialect.lines(of: VerdictMessage.self, in: answer.body)
        return try message.verdict(items, on: offer)
    }

    /// Sends the contents of the accepted items and waits for the receipt. Compares contents that the receiver has, by
    /// the verdict or its kept list, with the sources, and does not send equal ones.
    ///
    /// - Parameters:
    ///   - memory: the results of earlier attempts at this transfer; this attempt adds its own.
    ///   - patience: how long the other side may be silent.
    ///   - stall: how long it may make no progress while it sends interim answers; `Limits.work` for the offered bytes
    ///   is added.
    ///   - cancellation: a request ends the contents with a cancel frame. Cancelling the task closes the connection
    ///   instead.
    ///   - progressed: called with the bytes of contents that the connection has taken so far or the receiver already
    ///   has.
    /// - Throws: `HTTPFault` if the connection breaks, `TransferFault` if the answer is invalid, and
    ///   `CancellationError` after the cancel frame.
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
            // Checked again after reading, which can last (standard input). The last piece is dropped: an end of input
            // that came with the interruption would make the item complete.
            guard cancellation.isRequested else { return piece }
            saidCancel = true
            return ContentsWriter.cancelPiece()
        }
        if saidCancel { throw CancellationError() }
        guard answer.status != .ok else { return outcome(try reader.finish(), nil, offer, verdict, writer, memory) }
        let (fault, receipt) = try Self.fault(of: answer, offer)
        return outcome(receipt, fault, offer, verdict, writer, memory)
    }

    /// The receiver's list of kept parts of the items to send; nil if its verdict mentions none.
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

    /// Requests the receipt of a finished transfer.
    /// - Parameters:
    ///   - answered: whether to wait until the handlers have answered.
    ///   - patience: how long the other side may be silent.
    ///   - maximum: maximum total time; nil for `patience`.
    package func receipt(
        of offer: Offer, answered: Bool, patience: Duration, maximum: Duration? = nil
    ) async throws -> Receipt {
        var reader = ReceiptReader(for: offer)
        let resource = WaftDialect.Resource.receipt(offer.transfer, answered: answered)
        _ = try await exchange(.GET, resource, patience: patience, maximum: maximum) { try reader.read($0) }
        return try reader.finish()
    }

    /// Sends a message of a pairing and waits for the answer. The other side's user may delay it.
    ///
    /// - Parameters:
    ///   - patience: how long the other side may be silent.
    ///   - maximum: maximum total time; nil for `patience`.
    /// - Throws: `HTTPFault` if the connection breaks, `TransferFault` if the peer has no pairing.
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
                // An earlier receipt stays valid.
                guard let before = memory.receipt(of: number) else { fallthrough }
                return .acknowledged(before, sent: memory.sent(number))
            default:
                return .lost(fault ?? TransferFault(.unexpected, "the receipt does not mention it"))
            }
        }
        return SendOutcome(items: items)
    }
}
