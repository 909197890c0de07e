import HTTPChannel
import NIOCore
import Sharing
import WaftDialect

/// The steps of one sending over one connection.
struct SendJob: Sendable {
    let sources: [any ItemSource]
    let offer: Offer
    let options: SendOptions
    let cancellation: Cancellation
    let observe: @Sendable (SendEvent) -> Void
    let course = SendCourse()
    let memory = SendMemory()

    /// - Throws: `SendFailure`, `HTTPFault`, `TransferFault`, `CancellationError`, and what the network says.
    func run(_ client: WaftClient, peer: PeerID) async throws -> SendReport {
        guard let first = course.verdict else { return try await begin(client, peer: peer) }
        if let receipt = try await receipt(client) { memory.note(receipt) }
        let isWhole = offer.items.indices.allSatisfy { number in
            first.items[number].answer != .accepted || memory.receipt(of: number) != nil
        }
        if isWhole {
            return try await end(client, completed(SendOutcome(first)), peer: peer)
        }
        try checkRepeatable(first)
        let verdict = try await client.offer(offer, patience: options.answer)
        return try await contents(client, verdict, peer: peer)
    }

    private func begin(_ client: WaftClient, peer: PeerID) async throws -> SendReport {
        // A peer that hides its card may still take offers.
        let name = try? await client.card(patience: options.silence).name
        course.connected(peer, name: name)
        observe(.connected(peer, name: name))
        observe(.offered(offer))
        let verdict = try await client.offer(offer, patience: options.answer)
        observe(.answered(verdict))
        return try await contents(client, verdict, peer: peer)
    }

    private func contents(_ client: WaftClient, _ verdict: Verdict, peer: PeerID) async throws -> SendReport {
        guard verdict.acceptsAnything else {
            return report(completed(SendOutcome(verdict)), peer: peer)
        }
        course.accepted(verdict)
        let total = acceptedBytes(verdict)
        let outcome = try await client.send(
            offer, sources, verdict: verdict, memory: memory, patience: options.silence, cancellation: cancellation
        ) { bytes in
            observe(.progressed(course.progressed(bytes), of: total))
        }
        return try await end(client, completed(outcome), peer: peer)
    }

    private func end(_ client: WaftClient, _ outcome: SendOutcome, peer: PeerID) async throws -> SendReport {
        var outcome = outcome
        if reasonToGoOn(report(outcome, peer: peer)) == nil {
            observe(.settled)
            if options.wait == .opened { try await waitForHandlers(client, &outcome) }
        }
        return report(outcome, peer: peer)
    }

    private func report(_ outcome: SendOutcome, peer: PeerID) -> SendReport {
        SendReport(
            peer: peer, name: course.name, offer: offer, items: outcome.items, movedBytes: memory.movedBytes)
    }

    /// What was stored in an earlier attempt is stored, whatever the last one says of it.
    private func completed(_ outcome: SendOutcome) -> SendOutcome {
        let items = SendOutcome.Items(count: outcome.items.count) { [memory] number in
            let item = outcome.items[number]
            if case .acknowledged(let receipt, _) = item, receipt.isStored { return item }
            guard let receipt = memory.receipt(of: number) else { return item }
            return .acknowledged(receipt, digest: memory.digest(of: number))
        }
        return SendOutcome(items: items)
    }

    /// - Returns: nil where the other side has none: it has not heard yet that the connection is lost, or has stored
    ///   nothing before it was started anew.
    private func receipt(_ client: WaftClient) async throws -> Receipt? {
        do {
            return try await client.receipt(of: offer, answered: false, patience: options.silence)
        } catch let fault as TransferFault where fault.code == .notAccepted {
            return nil
        }
    }

    /// - Throws: `SendFailure` where something would have to be read again that can be read once only.
    private func checkRepeatable(_ verdict: Verdict) throws {
        for number in offer.items.indices where !sources[number].isRepeatable {
            guard verdict.items[number].answer == .accepted, memory.receipt(of: number) == nil else { continue }
            throw SendFailure(
                .unreachable,
                "the connection was lost, and standard input cannot be read again: run the whole pipeline again",
                final: true)
        }
    }

    // MARK: Going on

    /// Faults that pass: the disk is made room on, the receiver comes back.
    private static let passing: Set<TransferFault.Code> = [.noRoom, .storage, .stopping, .interrupted, .notKept]

    /// Why a transfer that has ended should be gone on with: one line; nil where all is stored, or another attempt would
    /// bring nothing.
    func reasonToGoOn(_ report: SendReport) -> String? {
        var reason: String?
        for (number, item) in report.items.enumerated() {
            let fault: TransferFault
            switch item {
            case .notAccepted(let verdict):
                // The first answer stands. To an offer that is made again, a no for the time being is none.
                guard course.verdict?.items[number].answer == .accepted, [.busy, .noRoom].contains(verdict.answer)
                else {
                    continue
                }
                if reason == nil { reason = verdict.reason }
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
        case let failure as SendFailure: !failure.isFinal && failure.code.isPassing
        case let fault as TransferFault: passing.contains(fault.code) || fault.code == .notAccepted
        default: true
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

    private func waitForHandlers(_ client: WaftClient, _ outcome: inout SendOutcome) async throws {
        let isPending = outcome.items.contains { item in
            if case .acknowledged(let receipt, _) = item { return receipt.handler.state == .pending }
            return false
        }
        guard isPending else { return }
        let receipt = try await client.receipt(of: offer, answered: true, patience: options.silence)
        let before = outcome.items
        outcome.items = SendOutcome.Items(count: before.count) { number in
            guard case .acknowledged(_, let digest) = before[number] else { return before[number] }
            return .acknowledged(receipt.items[number], digest: digest)
        }
    }

    /// What it means that a transfer could not be gone on with.
    static func failure(afterContents error: any Error, to peer: String) -> SendFailure {
        let failure = failure(error, to: peer)
        if case .cancelled = failure.code { return failure }
        return SendFailure(
            .unreachable, "\(failure.description); the same command again goes on where this one has stopped")
    }

    /// What an error of the conversation means to the user.
    static func failure(_ error: any Error, to peer: String) -> SendFailure {
        switch error {
        case let failure as SendFailure:
            return failure
        case is CancellationError:
            return SendFailure(.cancelled, "cancelled")
        case let fault as TransferFault where fault.code == .protocolViolation:
            return SendFailure(.unreachable, "\(peer) does not keep to the protocol: \(fault.message)")
        case let fault as TransferFault:
            return SendFailure(.refused(fault.code), "\(peer) refused: \(fault.message)")
        case let fault as HTTPFault where fault == .silence:
            return SendFailure(.noAnswer, "no answer from \(peer) in time")
        default:
            return SendFailure(.unreachable, "the connection to \(peer) was lost: \(error)")
        }
    }
}
