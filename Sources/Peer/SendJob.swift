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

    /// - Throws: `LostAfterContents`, `HTTPFault`, `TransferFault`, `CancellationError`, `OutOfTime`.
    func run(_ client: WaftClient, peer: PeerID) async throws -> SendReport {
        // A peer that hides its card may still take offers.
        let name = try? await client.card(patience: options.silence).name
        observe(.connected(peer, name: name))
        observe(.offered(offer))
        let verdict = try await client.offer(offer, patience: options.answer)
        observe(.answered(verdict))
        guard verdict.acceptsAnything else {
            return SendReport(peer: peer, name: name, offer: offer, items: verdict.items.map { .notAccepted($0) })
        }
        let total = acceptedBytes(verdict)
        var outcome: SendOutcome
        do {
            outcome = try await client.send(
                offer, sources, verdict: verdict, patience: options.silence, cancellation: cancellation
            ) { bytes in
                observe(.progressed(bytes, of: total))
            }
        } catch let fault as HTTPFault {
            throw LostAfterContents(fault: fault, verdict: verdict, name: name)
        }
        observe(.settled)
        if options.wait == .opened { try await waitForHandlers(client, &outcome) }
        return SendReport(peer: peer, name: name, offer: offer, items: outcome.items)
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
        for index in outcome.items.indices {
            guard case .acknowledged(_, let digest) = outcome.items[index] else { continue }
            outcome.items[index] = .acknowledged(receipt.items[index], digest: digest)
        }
    }

    /// A report from a receipt that was asked for again.
    func report(_ receipt: Receipt, verdict: Verdict, name: String?, peer: PeerID) -> SendReport {
        let items = zip(verdict.items, receipt.items).map { answer, item -> SendOutcome.Item in
            guard answer.answer == .accepted else { return .notAccepted(answer) }
            switch item.outcome {
            case .stored: return .acknowledged(item, digest: nil)
            case .failed(let fault): return .lost(fault)
            case .notSent: return .lost(TransferFault(.interrupted, "the connection broke off"))
            }
        }
        return SendReport(peer: peer, name: name, offer: offer, items: items)
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
