import Foundation
import HTTPChannel
package import Logging
import NIOCore
package import Sharing
import WaftDialect
package import Wakefulness

/// How a user wants something sent.
package struct SendOptions: Sendable {
    package enum Wait: String, Sendable, CaseIterable {
        /// Until the other side has stored it.
        case stored
        /// Until its handlers have answered too.
        case opened
    }

    package var wait: Wait = .stored
    package var annotation: [String: String] = [:]
    /// Whether what can be sent is sent when other items cannot.
    package var takesPart = false
    /// How long to look for the peer.
    package var finding: Duration = .seconds(5)
    /// How long nothing may listen at the peer's address: its receiver may be about to start.
    package var starting: Duration = .seconds(2)
    /// How long to wait for consent; at most `Limits.offerAnswer`.
    package var answer = Limits.offerAnswer
    /// How long the other side may be silent.
    package var silence: Duration = .seconds(60)
    /// How long the other side may make no progress with contents or handlers while it reports that it is working.
    /// `Limits.work` and `Limits.handlerWait` are added.
    package var stall = Limits.stall
    /// How long to retry without progress: to repeat an offer while the receiver is busy, and to resume an accepted
    /// transfer after the connection was lost or the receiver could not continue.
    package var retryFor: Duration = .seconds(60)
    /// Whether to repeat an offer to a busy receiver. The outbox repeats it after its own pauses.
    package var waitsForTurn = true

    /// How long the handlers of each item may take.
    package var handlers = Limits.handlerWait

    /// How long to wait for the handlers of `items` items.
    func handlerWait(items: Int) -> Duration { stall + handlers * items }

    /// The number under which it is offered; nil for a new one.
    package var transfer: TransferID?

    package init() {}
}

/// An event of a sending, for display.
package enum SendEvent: Sendable {
    /// The peer was found and its key is known; its name where it tells it.
    case connected(PeerID, name: String?)
    case offered(Offer)
    case answered(Verdict)
    /// The receiver is busy and will get the same offer again. The reason is one line and may be empty.
    case busy(String)
    /// Bytes of contents handed over, or there already, and of all accepted items (nil where not known). Never less than
    /// before.
    /// - Parameter moved: bytes that were sent, in all attempts.
    case progressed(UInt64, of: UInt64?, moved: UInt64)
    /// The transfer was interrupted for this reason, one line, and is being resumed.
    case resuming(String)
    /// The other side has everything and works on it.
    case settled
}

/// How a sending to one peer ended, when it came to a verdict.
package struct SendReport: Sendable {
    package var peer: PeerID
    package var name: String?
    package var offer: Offer
    /// One for each item.
    package var items: [SendOutcome.Item]
    /// Bytes of contents that were sent, in all attempts: less than the items have where something was there already.
    package var movedBytes: UInt64 = 0
}

/// Why a sending did not come as far as a report.
package struct SendFailure: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        case notFound
        /// Several peers go by that name.
        case ambiguous
        case unreachable
        case noAnswer
        /// The receiver refused to talk about it at all.
        case refused(TransferFault.Code)
        /// This peer cannot do what the user asked for.
        case unfit
        case cancelled

        /// Whether it may be otherwise a moment later.
        var isPassing: Bool {
            switch self {
            case .notFound, .ambiguous, .unreachable, .noAnswer: true
            case .refused, .unfit, .cancelled: false
            }
        }
    }

    package let code: Code
    /// One line.
    package let description: String
    /// Whether no other attempt can bring more.
    let isFinal: Bool

    init(_ code: Code, _ description: String, final isFinal: Bool = false) {
        self.code = code
        self.description = description
        self.isFinal = isFinal
    }

    /// The time in which people there could answer an offer is over.
    static func unanswered(_ peer: String, within time: Duration) -> SendFailure {
        SendFailure(.noAnswer, "\(peer): \(SilenceWords.nobodyAnswered(within: time))", final: true)
    }
}

/// Sends activity items to one peer: finds it, connects, offers, moves accepted items, and returns receipts.
package struct Sender: Sendable {
    let network: PeerNetwork
    private let ownName: String
    private let logger: Logger
    private let inhibitor: SleepInhibitor?

    /// - Parameter inhibitor: keeps the machine awake once an item is accepted; nil if the machine may sleep.
    package init(network: PeerNetwork, ownName: String, logger: Logger, inhibitor: SleepInhibitor? = nil) {
        self.inhibitor = inhibitor
        self.network = network
        self.ownName = ownName
        self.logger = logger
    }

    /// Accepted items are resumed over new connections, as long as there is progress: see `SendOptions.retryFor`.
    ///
    /// - Parameters:
    ///   - cancellation: when requested, informs the other side and throws `SendFailure.cancelled`.
    ///   - observe: called in order, from one task.
    /// - Throws: `SendFailure`.
    package func send(
        _ sources: [any ItemSource],
        to reference: PeerReference,
        options: SendOptions,
        cancellation: Cancellation,
        observe: @escaping @Sendable (SendEvent) -> Void
    ) async throws(SendFailure) -> SendReport {
        let report = try await run(
            sources, to: reference, options: options, cancellation: cancellation, observe: observe)
        network.sentLog?.note(report)
        return report
    }

    private func run(
        _ sources: [any ItemSource],
        to reference: PeerReference,
        options: SendOptions,
        cancellation: Cancellation,
        observe: @escaping @Sendable (SendEvent) -> Void
    ) async throws(SendFailure) -> SendReport {
        let awake = WakeHold(inhibitor)
        defer { withExtendedLifetime(awake) {} }
        let observe: @Sendable (SendEvent) -> Void = { event in
            if case .answered(let verdict) = event, verdict.acceptsAnything { awake.take() }
            observe(event)
        }
        let target = try await network.resolve(reference, within: options.finding)
        let offer = Offer(
            transfer: options.transfer ?? TransferID(),
            items: sources.map(\.offered), annotation: options.annotation, senderName: ownName,
            takesPart: options.takesPart, dialect: target.airdrop == nil ? .waft : .airdrop)
        if let peer = target.airdrop {
            return try await network.sendByAirDrop(
                sources, offer, to: target, peer, options: options, cancellation: cancellation, observe: observe)
        }
        let job = SendJob(
            sources: sources, offer: offer, options: options, cancellation: cancellation, observe: observe)
        var pause = SendPause()
        var told: String?
        while true {
            let isOffering = job.course.verdict == nil
            let attempt = await attempt(job, reference, at: isOffering || pause.count == 0 ? target : nil)
            if isOffering, job.course.verdict != nil { pause = SendPause() }
            let hasProgressed = job.course.takeProgress()
            let reason: String
            switch attempt {
            case .failed(let error) where job.course.verdict == nil:
                guard options.waitsForTurn, SendJob.isPassingBusyness(error, wasBusy: pause.count > 0),
                    job.course.mayGoOn(for: options.retryFor), !cancellation.isRequested
                else { throw SendJob.failure(error, to: reference.description) }
                if let away = error as? TurnedAway, away.reason != told {
                    observe(.busy(away.reason))
                    told = away.reason
                }
                try await pause.take(atMost: job.course.rest(of: options.retryFor), cancellation)
                continue
            case .ended(let report):
                guard let why = job.reasonToGoOn(report) else { return report }
                guard job.course.mayGoOn(for: options.retryFor) else { return report }
                reason = why
            case .failed(let error):
                guard SendJob.isPassing(error), !cancellation.isRequested else {
                    throw SendJob.failure(error, to: reference.description)
                }
                // Once in any case: everything may have been stored, and only the receipt been lost. And once after all
                // progress: this program may have been stopped for longer than that.
                guard job.course.mayGoOn(for: options.retryFor) || pause.count == 0 || hasProgressed else {
                    throw SendJob.failure(afterContents: error, to: reference.description)
                }
                reason = SendJob.failure(error, to: reference.description).description
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
        case failed(any Error)
    }

    /// The steps that need one connection.
    /// - Parameter known: the peer's target; nil to look for the peer again, because its address may have changed.
    private func attempt(_ job: SendJob, _ reference: PeerReference, at known: PeerTarget?) async -> Attempt {
        do {
            var target: PeerTarget
            if let known {
                target = known
            } else {
                target = try await network.resolve(reference, within: job.options.finding)
                // A transfer that one protocol began cannot be resumed by another.
                if target.airdrop != nil { throw SendFailure(.notFound, "\(reference) is not reachable now") }
            }
            if let peer = job.course.peer { target = target.expecting(peer) }
            let connection = try await network.connect(
                to: target, within: job.options.finding, starting: job.options.starting)
            // Reading the disk blocks: not on the threads that everything else shares.
            let executor = network.blocking
            return .ended(
                try await withTaskExecutorPreference(executor) {
                    try await HTTPClient.converse(connection.http) { http in
                        try await job.run(WaftClient(http), peer: connection.peer)
                    }
                })
        } catch {
            return .failed(error)
        }
    }
}

/// The waits between attempts: longer and longer as long as nothing moves.
private struct SendPause {
    private(set) var count = 0
    private var length: Duration = shortest

    private static let shortest: Duration = .milliseconds(250)
    private static let longest: Duration = .seconds(5)
    /// Time until a user's request to stop is noticed.
    private static let slice: Duration = .milliseconds(100)

    /// Makes the next pause as short as the first.
    mutating func shorten() { length = Self.shortest }

    /// - Throws: `SendFailure` `cancelled`.
    mutating func take(atMost limit: Duration = longest, _ cancellation: Cancellation) async throws(SendFailure) {
        // Random lengths, so that senders that were refused together do not return together.
        let end = ContinuousClock.now + min(length * Double.random(in: 0.75...1.25), limit)
        while ContinuousClock.now < end, !cancellation.isRequested, !Task.isCancelled {
            try? await Task.sleep(for: min(Self.slice, length))
        }
        if cancellation.isRequested || Task.isCancelled { throw SendFailure(.cancelled, "cancelled") }
        count += 1
        length = min(length * 2, Self.longest)
    }
}
