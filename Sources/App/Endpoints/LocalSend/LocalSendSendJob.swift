import HTTPChannel
import LocalSendDialect
import NIOPosix
import SecureTransport
import Settings
import Sharing

/// The steps of one sending.
struct LocalSendSendJob: Sendable {
    private let endpoint: LocalSendEndpoint
    private let request: SendRequest
    private let peerText: String
    private let line: LocalSendLine
    private let receiver = ReceiverCancellation()

    private var options: SendOptions { request.options }

    init(_ endpoint: LocalSendEndpoint, _ request: SendRequest, peerText: String) {
        (self.endpoint, self.request, self.peerText) = (endpoint, request, peerText)
        line = LocalSendLine(endpoint, request)
    }

    /// - Throws: `SendError`, `SourceError`, `TransferError`, `HTTPError`, `DialError`, `CancellationError`,
    ///   `ListenerError`.
    func run() async throws -> SendReport {
        // The port that the question names, at which the receiver may end the sending.
        let side = endpoint.side
        let listener = try await SecureListener.bind(
            SecureListener.Configuration(port: 0, profile: .localsend) { try side.loadIdentity() },
            group: .singleton, logger: endpoint.logger)
        async let _ = try? await listener.run { channel, _ in
            try HTTPServer.configure(channel)
        } onConnection: { [line, receiver] connection in
            let isPeer = line.isPeer(Visitor(of: connection))
            await LocalSendRegistry.serve(connection.output) { isPeer && receiver.request($0) }
        }
        return try await withThrowingTaskGroup(of: SendReport?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await send(naming: UInt16(clamping: listener.port)) }
            group.addTask { [receiver] in
                await receiver.wait()
                return nil
            }
            while let report = try await group.next() {
                if let report { return report }
                group.cancelAll()
            }
            throw CancellationError()
        }
    }

    /// - Parameter port: of this side, for the time of the sending.
    private func send(naming port: UInt16) async throws -> SendReport {
        let plan = try LocalSendPlan(request.offer, request.sources)
        for remark in plan.remarks { request.observe(.remarked(remark)) }
        let sending = try LocalSendSending(
            plan, from: try await endpoint.side.device(port: port), pin: options.pin,
            times: LocalSendTimes(answer: options.answer, silence: options.silence, retryFor: options.retryFor),
            cancellation: request.cancellation, receiver: receiver, connect: line.converse)
        let end = ContinuousClock.now + options.retryFor
        var (pause, told) = (WaftSendPause(), String?.none)
        while true {
            switch try await attempt(sending) {
            case .ended(let result, let moved):
                guard let peer = line.peer else { throw HTTPError.closed }
                return SendReport(
                    peer: peer, name: request.target.name, offer: request.offer, items: result.items, movedBytes: moved)
            case .refused(let refusal) where refusal.isBusy:
                let rest = end - ContinuousClock.now
                guard options.waitsForTurn, rest > .zero else { throw BusyError(reason: refusal.message) }
                if told != refusal.message { request.observe(.busy(refusal.message, .rule)) }
                told = refusal.message
                try await pause.take(atMost: rest, request.cancellation)
            case .refused(let refusal): throw error(for: refusal)
            }
        }
    }

    private func attempt(_ sending: LocalSendSending) async throws -> LocalSendSending.Outcome {
        let request = request
        let total = SentTotal()
        do {
            let outcome = try await sending.run { verdict in
                total.set(of: request.offer, verdict)
                request.observe(.answered(verdict))
            } progressed: { done, moved in
                request.observe(.progressed(done, of: total.bytes, moved: moved))
            }
            if case .ended(_, let moved) = outcome, moved > 0 { request.observe(.settled) }
            return outcome
        } catch let fault as HTTPError where fault == .silence {
            throw SendError.unanswered(peerText, within: options.answer)
        }
    }

    private func error(for refusal: LocalSendRefusal) -> SendError {
        let words = refusal.message.isEmpty ? "HTTP status \(refusal.status)" : refusal.message
        return switch refusal.status {
        case 401 where options.pin == nil:
            SendError(.refused(.notAccepted), "\(peerText) wants a PIN: give it with --pin")
        case 401:
            SendError(.refused(.notAccepted), "\(peerText) refused the PIN: ask there for the right one (\(words))")
        case 429:
            SendError(
                .refused(.notAccepted),
                "\(peerText) takes no PIN from here for now, after too many wrong ones: wait, or restart LocalSend there"
            )
        case 404, 405: SendError(.unreachable, "a program answers at \(peerText) that is not LocalSend")
        case 400..<500: SendError(.refused(.protocolViolation), "\(peerText) refused the offer: \(words)")
        default: SendError(.refused(.storage), "\(peerText) failed: \(words)")
        }
    }
}
