import Executors
package import HTTPChannel
import NIOCore
import NIOHTTP1
package import Pairing
import SecureTransport
package import Sharing

/// The sender's side of the protocol, on one connection, which contents use up. One task uses it.
package struct WaftClient {
    let http: HTTPClient

    package init(_ http: HTTPClient) {
        self.http = http
    }

    /// - Parameter timeout: maximum wait, including interim answers.
    /// - Throws: `TransferError`; `notAccepted` if the peer hides its card from this sender.
    package func card(timeout: Duration) async throws -> Card {
        let answer = try await exchange(.GET, .card, timeout: timeout)
        return try WaftDialect.decode(CardMessage.self, from: answer.body).card
    }

    /// Waits for consent. Cancelling the task or closing the connection withdraws the offer.
    /// - Parameter timeout: maximum wait for consent, including interim answers. The receiver learns it, and has
    ///   `Limits.answerGrace` more to say that nobody has answered.
    package func offer(_ offer: Offer, timeout: Duration) async throws -> Verdict {
        var offer = offer
        offer.wait = timeout
        let body = try WaftDialect.writer(offer).joined()
        let answer = try await exchange(
            .POST, .offers, contentType: WaftDialect.linesType, body: body,
            timeout: timeout + Limits.answerGrace)
        let (message, items) = try WaftDialect.lines(of: VerdictMessage.self, in: answer.body)
        return try message.verdict(items, on: offer)
    }

    /// Sends the contents of the accepted items and waits for the receipt. Compares contents that the receiver has, by
    /// the verdict or its kept list, with the sources, and does not send equal ones. The sources are read on a thread of
    /// its own. The connection is used up.
    ///
    /// - Parameters:
    ///   - memory: the results of earlier attempts at this transfer; this attempt adds its own.
    ///   - timeout: how long the other side may be silent.
    ///   - stall: how long it may make no progress while it sends interim answers; `Limits.work` for the offered bytes
    ///   is added.
    ///   - cancellation: a request ends the contents with a cancel frame. Cancelling the task closes the connection
    ///   instead.
    ///   - progressed: called on that thread with the bytes of contents that the connection has taken so far or the receiver already
    ///   has.
    /// - Throws: `HTTPError` if the connection breaks, `TransferError` if the answer is invalid, and
    ///   `CancellationError` after the cancel frame.
    package func send(
        _ offer: Offer,
        _ sources: [any ItemSource],
        verdict: Verdict,
        memory: SendMemory = SendMemory(),
        timeout: Duration,
        stall: Duration = Limits.stall,
        cancellation: Cancellation,
        progressed: @escaping @Sendable (_ done: UInt64, _ moved: UInt64) -> Void
    ) async throws -> SendResult {
        let maximum = stall + Limits.work(on: offer.knownSize)
        // Unsafe only for the compiler: only the thread uses both while it runs.
        nonisolated(unsafe) let writer = ContentsWriter(
            sources, verdict: verdict, stored: memory.storedDigests, contradicted: memory.contradicted,
            kept: try await kept(of: offer, sources, verdict, memory, timeout: timeout, maximum: maximum))
        nonisolated(unsafe) let reply = ContentsReply(to: offer, digest: verdict.digest)
        defer { memory.note(writer.outcomes, moved: writer.movedBytes) }
        switch try await http.switchProtocols(
            WaftDialect.Resource.contents(offer.transfer).path, to: WaftDialect.contentsProtocol, timeout: timeout)
        {
        case .refused(let answer):
            return Self.outcome(nil, Self.fault(of: answer), offer, verdict, writer.outcomes, memory)
        case .switched(let stream):
            let movedBefore = memory.movedBytes
            let reading = SourceReading()
            let result = await withTaskCancellationHandler {
                await BackgroundThread.run("waft-contents") {
                    Result {
                        try ContentsSending(
                            stream: stream, writer: writer, reply: reply, silence: timeout, maximum: maximum,
                            cancellation: cancellation, reading: reading,
                            progressed: { progressed(writer.contentBytes, movedBefore + writer.movedBytes) }
                        ).run()
                    }
                }
            } onCancel: {
                // A source can keep the thread waiting (standard input). What it then reads is not sent any more.
                if cancellation.isRequested, reading.isNow { stream.sendIfIdle(ContentsWriter.cancelPiece()) }
                stream.interrupt()
            }
            guard let result else { throw HTTPError.closed }
            try result.get()
            return Self.outcome(try reply.receipt(), reply.fault, offer, verdict, writer.outcomes, memory)
        }
    }

    /// The receiver's list of kept parts of the items to send; nil if its verdict mentions none.
    private func kept(
        of offer: Offer, _ sources: [any ItemSource], _ verdict: Verdict, _ memory: SendMemory, timeout: Duration,
        maximum: Duration
    ) async throws -> KeptList? {
        let isWorthAsking = offer.items.indices.contains { number in
            verdict.items[number].answer == .accepted && verdict.items[number].hasKept && sources[number].isRepeatable
                && memory.receipt(of: number) == nil
        }
        return isWorthAsking ? try await kept(of: offer, timeout: timeout, maximum: maximum) : nil
    }

    /// The receiver's list of kept parts. It lets the accepted offer wait for its contents, for as long as at first.
    func kept(of offer: Offer, timeout: Duration, maximum: Duration) async throws -> KeptList {
        let answer = try await exchange(.GET, .kept(offer.transfer), timeout: timeout, maximum: maximum)
        return try KeptList(answer.body, items: offer.items.count)
    }

    /// Requests the receipt of a finished transfer.
    /// - Parameters:
    ///   - answered: whether to wait until the handlers have answered.
    ///   - timeout: how long the other side may be silent.
    ///   - maximum: maximum total time; nil for `timeout`.
    package func receipt(
        of offer: Offer, answered: Bool, timeout: Duration, maximum: Duration? = nil
    ) async throws -> Receipt {
        var reader = ReceiptReader(for: offer)
        let resource = WaftDialect.Resource.receipt(offer.transfer, answered: answered)
        _ = try await exchange(.GET, resource, timeout: timeout, maximum: maximum) { try reader.read($0) }
        return try reader.finish()
    }

    /// Asks whether the other side shows a code of a nameplate, on a connection of `WaftDialect.codeALPN`.
    /// - Throws: `HTTPError` if the connection breaks, `TransferError` if the peer does not answer that.
    package func shows(nameplate: Int, timeout: Duration) async throws -> Bool {
        let answer = try await exchange(.GET, .nameplate(nameplate), timeout: timeout)
        return try WaftDialect.decode(NameplateMessage.self, from: answer.body).open
    }

    /// Sends a message of a pairing and waits for the answer. The other side's user may delay it.
    ///
    /// - Parameters:
    ///   - timeout: how long the other side may be silent.
    ///   - maximum: maximum total time; nil for `timeout`.
    /// - Throws: `HTTPError` if the connection breaks, `TransferError` if the peer has no pairing.
    package func pair(
        _ letter: PairingLetter, timeout: Duration, maximum: Duration? = nil
    ) async throws -> PairingLetter {
        let answer = try await exchange(.POST, .pairing, body: letter.body, timeout: timeout, maximum: maximum)
        guard answer.body.readableBytes <= PairingLetter.byteLimit else { throw TransferError.malformed("too long") }
        return PairingLetter(answer.body)
    }

    private func exchange(
        _ method: HTTPMethod,
        _ resource: WaftDialect.Resource,
        contentType: String = "application/json",
        body: ByteBuffer? = nil,
        timeout: Duration,
        maximum: Duration? = nil,
        reader: HTTPClient.BodyReader? = nil
    ) async throws -> HTTPAnswer {
        let answer = try await http.exchange(
            method, resource.path, contentType: contentType, body: body, timeout: timeout, maximum: maximum,
            reader: reader)
        guard answer.status == .ok else { throw Self.fault(of: answer) }
        return answer
    }

    static func fault(of answer: HTTPAnswer) -> TransferError {
        let isPassing = answer.status == .serviceUnavailable
        guard let message = try? WaftDialect.decode(FaultMessage.self, from: answer.body) else {
            // Status 503 alone means that a later attempt may succeed.
            let code: TransferError.Code = isPassing ? .stopping : .protocolViolation
            return TransferError(code, "the peer answered with HTTP status \(answer.status.code)")
        }
        let isKnown = TransferError.Code(rawValue: message.fault) != nil
        let code = isKnown || !isPassing ? message.fault : TransferError.Code.stopping.rawValue
        return TransferError(code: code, message: message.message, cause: message.cause)
    }

    /// The result of an attempt, by its receipt, by how far its sources were read, and by earlier attempts.
    static func outcome(
        _ receipt: Receipt?,
        _ fault: TransferError?,
        _ offer: Offer,
        _ verdict: Verdict,
        _ sources: [ContentsWriter.SourceState],
        _ memory: SendMemory
    ) -> SendResult {
        if let receipt { memory.note(receipt) }
        let items = offer.items.indices.map { number -> SendResult.Item in
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
                return .lost(fault ?? TransferError(.unexpected, "the receipt does not mention it"))
            }
        }
        return SendResult(items: items)
    }
}
