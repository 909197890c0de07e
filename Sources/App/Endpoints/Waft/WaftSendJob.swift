import HTTPChannel
import NIOCore
import Sharing
import WaftDialect

/// The steps of one sending.
struct WaftSendJob: Sendable {
    let request: SendRequest
    let course = WaftSendProgress()
    let memory = SendMemory()

    private var sources: [any ItemSource] { request.sources }
    private var offer: Offer { request.offer }
    private var options: SendOptions { request.options }

    private func observe(_ event: SendEvent) { request.observe(event) }

    /// - Throws: `SendError`, `HTTPError`, `TransferError`, `CancellationError`, and errors of the network.
    func run(_ client: WaftClient, on connection: WaftEndpoint.OpenConnection) async throws -> SendReport {
        let peer = connection.peer
        guard let first = course.verdict else { return try await begin(client, connection) }
        if let receipt = try await receipt(client) { memory.note(receipt) }
        let isWhole = offer.items.indices.allSatisfy { number in
            let isWanted =
                first.items[number].answer == .accepted || first.items[number].answer == .busy && first.isWorthRepeating
            return !isWanted || memory.receipt(of: number) != nil
        }
        if isWhole {
            return end(SendResult(first), peer: peer)
        }
        // The answer tells whether the other user has cancelled.
        var again = offer
        again.group = nil
        let verdict = try await client.offer(again, timeout: options.answer)
        try checkRepeatable(verdict)
        return try await contents(client, verdict, connection)
    }

    private func begin(
        _ client: WaftClient, _ connection: WaftEndpoint.OpenConnection
    ) async throws -> SendReport {
        let peer = connection.peer
        let verdict: Verdict
        do {
            try await introduce(client, peer: peer)
            verdict = try await ask(client, peer: peer)
        } catch let fault as TransferError where fault.code == .stopping {
            throw BusyError(reason: fault.message, cause: fault.cause)
        }
        if !verdict.acceptsAnything, verdict.isWorthRepeating, options.waitsForTurn,
            course.mayGoOn(for: options.retryFor)
        {
            let busy = verdict.items.first { $0.answer == .busy }
            throw BusyError(reason: busy?.reason ?? "", cause: busy?.cause ?? .rule)
        }
        observe(.answered(verdict))
        return try await contents(client, verdict, connection)
    }

    /// - Throws: a final `SendError` if the time for the answer is over: the offer has been withdrawn.
    private func ask(_ client: WaftClient, peer: PeerID) async throws -> Verdict {
        do {
            var offered = await request.offered(peer)
            if let seat = request.seat, !seat.group.sending.enter(seat.member, as: peer) { offered.group = nil }
            return try await client.offer(offered, timeout: options.answer)
        } catch let fault as HTTPError where fault == .silence {
            throw SendError.unanswered(course.name ?? peer.short, within: options.answer)
        }
    }

    /// Asks for the peer's name, and reports the first connection to `observe`.
    private func introduce(_ client: WaftClient, peer: PeerID) async throws {
        var name: String?
        do {
            name = try await client.card(timeout: options.silence).name
        } catch let fault as TransferError where fault.code != .stopping {
            // A peer that hides its card may still take offers.
        } catch let fault as HTTPError where fault == .closed {
            throw BusyError(reason: "it closes the connection at once, as if it were full or being stopped")
        }
        guard course.connected(peer, name: name) else { return }
        observe(.connected(peer, name: name))
        observe(.offered(offer))
    }

    private func contents(
        _ client: WaftClient, _ verdict: Verdict, _ connection: WaftEndpoint.OpenConnection
    ) async throws -> SendReport {
        let peer = connection.peer
        guard verdict.acceptsAnything else {
            return report(SendResult(verdict), peer: peer)
        }
        course.accepted(verdict)
        let total = acceptedBytes(verdict)
        if let outcome = try await chain(client, verdict, connection, total) { return end(outcome, peer: peer) }
        let outcome = try await client.send(
            offer, sources, verdict: verdict, memory: memory, timeout: options.silence, stall: options.stall,
            cancellation: request.cancellation
        ) { done, moved in
            observe(.progressed(course.progressed(done), of: total, moved: moved))
        }
        return end(outcome, peer: peer)
    }

    /// Sends the contents as a member of the group.
    /// - Returns: nil for a stream of its own.
    private func chain(
        _ client: WaftClient, _ verdict: Verdict, _ connection: WaftEndpoint.OpenConnection, _ total: UInt64?
    ) async throws -> SendResult? {
        guard let seat = request.seat else { return nil }
        let before = memory.movedBytes
        let member = GroupSending.Member(
            seat.member, connection.peer, at: connection.location, offer, verdict, memory: memory,
            cancellation: request.cancellation, timeout: options.silence, stall: options.stall
        ) { [observe] bytes in
            // The stream has some bytes beside the contents.
            let done = min(bytes, total ?? bytes)
            observe(.progressed(course.progressed(done), of: total, moved: before + done))
        }
        return try await seat.group.sending.join(member, by: client)
    }

    private func end(_ outcome: SendResult, peer: PeerID) -> SendReport {
        let report = report(outcome, peer: peer)
        if reasonToGoOn(report) == nil { observe(.settled) }
        return report
    }

    /// An item that was stored in an earlier attempt stays stored, even if the last attempt reports it as lost. An item
    /// counts as lost if its receipt contradicts the sent content.
    private func report(_ outcome: SendResult, peer: PeerID) -> SendReport {
        var report = SendReport(
            peer: peer, name: course.name, offer: offer, items: outcome.items, movedBytes: memory.movedBytes)
        for number in report.items.indices {
            if case .acknowledged(let receipt, _) = report.items[number], receipt.isStored { continue }
            guard let receipt = memory.receipt(of: number) else { continue }
            report.items[number] = .acknowledged(receipt, sent: memory.sent(number))
        }
        refuseContradictions(&report)
        return report
    }

    private func refuseContradictions(_ report: inout SendReport) {
        for number in report.items.indices {
            guard case .acknowledged(let receipt, let sent) = report.items[number],
                let lie = receipt.contradiction(of: offer.items[number], sent: sent)
            else { continue }
            report.items[number] = .lost(lie)
        }
    }

    /// - Returns: nil if the other side has none: it has not noticed the lost connection yet, or stored nothing before
    ///   a restart.
    private func receipt(_ client: WaftClient) async throws -> Receipt? {
        do {
            return try await client.receipt(of: offer, answered: false, timeout: options.silence)
        } catch let fault as TransferError where fault.code == .notAccepted {
            return nil
        }
    }

    /// - Throws: `SendError` where something would have to be read again that can be read once only.
    private func checkRepeatable(_ verdict: Verdict) throws {
        for number in offer.items.indices where !sources[number].isRepeatable {
            guard verdict.items[number].answer == .accepted, memory.receipt(of: number) == nil else { continue }
            throw SendError(
                .unreachable,
                "the connection was lost, and the contents cannot be read again: run the whole command again",
                final: true)
        }
    }

    // MARK: Going on

    /// Faults that pass: the disk is made room on, the receiver comes back.
    private static let passing: Set<TransferError.Code> = [.noRoom, .storage, .stopping, .interrupted, .notKept]

    /// Why a transfer that has ended should be resumed: one line; nil if everything is stored, or if another attempt
    /// would bring nothing.
    func reasonToGoOn(_ report: SendReport) -> String? {
        var reason: String?
        for (number, item) in report.items.enumerated() {
            let fault: TransferError
            switch item {
            case .notAccepted(let verdict):
                // The first answer stands. To a repeated offer, a temporary refusal changes nothing, and `busy` beside
                // accepted items is temporary.
                guard let first = course.verdict else { continue }
                let mayPass =
                    first.items[number].answer == .accepted
                    ? [.busy, .noRoom].contains(verdict.answer)
                    : first.items[number].answer == .busy && first.isWorthRepeating && verdict.answer == .busy
                if mayPass, reason == nil { reason = verdict.reason.isEmpty ? "busy" : verdict.reason }
                continue
            case .acknowledged(let receipt, _):
                guard case .failed(let why) = receipt.outcome else { continue }
                fault = why
            case .lost(let why):
                fault = why
            case .unread:
                continue
            }
            guard Self.passing.contains(fault.code), sources[number].isRepeatable else { return nil }
            if reason == nil { reason = fault.message }
        }
        return reason
    }

    /// Whether the reason for which an attempt came to no end may pass.
    static func isPassing(_ error: any Error) -> Bool {
        switch error {
        case is CancellationError: false
        case let failure as SendError: !failure.isFinal && failure.code.isPassing
        case let fault as TransferError: passing.contains(fault.code) || fault.code == .notAccepted
        default: true
        }
    }

    /// Whether an offer without an answer may get one a moment later.
    /// - Parameter wasBusy: whether the receiver was busy before. Then it may be stopping, and start again.
    static func isPassingBusyness(_ error: any Error, wasBusy: Bool) -> Bool {
        switch error {
        case is BusyError: true
        case let failure as SendError: wasBusy && isPassing(failure)
        case let fault as HTTPError: wasBusy && fault == .closed
        default: false
        }
    }

    private func acceptedBytes(_ verdict: Verdict) -> UInt64? {
        var total: UInt64 = 0
        for (item, answer) in zip(offer.items, verdict.items) where answer.answer == .accepted {
            guard let size = item.size else { return nil }
            let (sum, overflow) = total.addingReportingOverflow(size)
            total = overflow ? .max : sum
        }
        return total
    }

    // MARK: The handlers

    /// Whether the user wants to know what the handlers say, and the receipt does not say it yet.
    func mustWaitForHandlers(_ report: SendReport) -> Bool {
        guard options.wait == .opened, reasonToGoOn(report) == nil else { return false }
        return report.items.contains { item in
            if case .acknowledged(let receipt, _) = item { receipt.handler.state == .pending } else { false }
        }
    }

    /// - Returns: the report with the handlers' answers, or as it is when the time for them is over.
    func waitForHandlers(_ client: WaftClient, _ report: SendReport) async throws -> SendReport {
        let maximum = options.handlerWait(items: offer.items.count)
        let start = ContinuousClock.now
        let receipt: Receipt
        do {
            receipt = try await client.receipt(
                of: offer, answered: true, timeout: options.silence, maximum: maximum)
        } catch let fault as HTTPError where fault == .silence && ContinuousClock.now - start >= maximum {
            // Everything is stored; the report lacks only the handlers' answers.
            return report
        }
        var report = report
        for number in report.items.indices {
            guard case .acknowledged(_, let sent) = report.items[number] else { continue }
            report.items[number] = .acknowledged(receipt.items[number], sent: sent)
        }
        refuseContradictions(&report)
        return report
    }
}
