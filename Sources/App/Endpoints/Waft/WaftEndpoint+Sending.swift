import HTTPChannel
import Logging
import Sharing
import WaftDialect

extension WaftEndpoint {
    /// Accepted items are resumed over new connections, as long as there is progress: see `SendOptions.retryFor`.
    package func send(_ request: SendRequest) async throws(SendError) -> SendReport {
        let (options, cancellation, observe) = (request.options, request.cancellation, request.observe)
        let job = WaftSendJob(request: request)
        var pause = WaftSendPause()
        var told: String?
        var stored: SendReport?
        while true {
            let isOffering = job.course.verdict == nil
            let attempt = await attempt(job, at: isOffering || pause.count == 0 ? request.target : nil)
            if isOffering, job.course.verdict != nil { pause = WaftSendPause() }
            let hasProgressed = job.course.takeProgress()
            let reason: String
            switch attempt {
            case .failed(let error, _) where job.course.verdict == nil:
                guard options.waitsForTurn, WaftSendJob.isPassingBusyness(error, wasBusy: pause.count > 0),
                    job.course.mayGoOn(for: options.retryFor), !cancellation.isRequested
                else { throw SendError(error, to: request.peerText) }
                if let away = error as? BusyError, away.reason != told {
                    observe(.busy(away.reason, away.cause))
                    told = away.reason
                }
                try await pause.take(atMost: job.course.rest(of: options.retryFor), cancellation)
                continue
            case .failed(is GroupSending.LeftChain, _):
                // No fault: it goes on at once.
                continue
            case .ended(let report):
                guard let why = job.reasonToGoOn(report) else { return report }
                guard job.course.mayGoOn(for: options.retryFor) else { return report }
                reason = why
            case .failed(let error, let report):
                stored = report ?? stored
                guard WaftSendJob.isPassing(error), !cancellation.isRequested else {
                    throw SendError(error, to: request.peerText)
                }
                // Once in any case: everything may have been stored, and only the receipt been lost. And once after all
                // progress: this program may have been stopped for longer than that.
                guard job.course.mayGoOn(for: options.retryFor) || pause.count == 0 || hasProgressed else {
                    // All is stored: only the answers of the handlers are missing.
                    if let stored { return stored }
                    throw SendError(afterContents: error, to: request.peerText)
                }
                reason = SendError(error, to: request.peerText).description
            }
            logger.info("the transfer resumes", metadata: ["reason": "\(reason)"])
            if reason != told { observe(.resuming(reason)) }
            told = reason
            if hasProgressed { pause.shorten() }
            try await pause.take(cancellation)
        }
    }

    private enum Attempt {
        case ended(SendReport)
        /// With the report if everything was stored before, and only the wait for the handlers has failed.
        case failed(any Error, stored: SendReport?)
    }

    /// The steps that need one connection, and the wait for the handlers: contents use their connection up.
    /// - Parameter known: the peer's target; nil to look for the peer again, because its address may have changed.
    private func attempt(_ job: WaftSendJob, at known: PeerTarget?) async -> Attempt {
        var stored: SendReport?
        do {
            var target: PeerTarget
            if let known {
                target = known
            } else {
                target = try await job.request.findAgain()
            }
            if let peer = job.course.peer { target = target.expecting(peer) }
            let options = job.request.options
            let report = try await converse(with: target, options) { client, connection in
                try await job.run(client, on: connection)
            }
            guard job.mustWaitForHandlers(report) else { return .ended(report) }
            stored = report
            job.request.observe(.handling)
            return .ended(
                try await converse(with: target.expecting(report.peer), options) { client, _ in
                    try await job.waitForHandlers(client, report)
                })
        } catch {
            return .failed(error, stored: stored)
        }
    }
    private func converse(
        with target: PeerTarget, _ options: SendOptions,
        _ body: @escaping @Sendable (WaftClient, OpenConnection) async throws -> SendReport
    ) async throws -> SendReport {
        let connection = try await connect(to: target, within: options.finding, starting: options.starting)
        // Examining the offer and its answers takes long: not on the threads that everything else shares.
        return try await withTaskExecutorPreference(blocking) {
            try await HTTPClient.converse(connection.http) { http in
                try await body(WaftClient(http), connection)
            }
        }
    }
}
