import Foundation
import HTTPChannel
package import Logging
import NIOCore
package import Sharing
import WaftDialect

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
    /// How long to wait for consent.
    package var answer: Duration = .seconds(120)
    /// How long the other side may be silent.
    package var silence: Duration = .seconds(60)

    /// The number under which it is offered; nil for a new one.
    package var transfer: TransferID?

    package init() {}
}

/// What happens on the way, for those who show it.
package enum SendEvent: Sendable {
    /// The peer was found and its key is known; its name where it tells it.
    case connected(PeerID, name: String?)
    case offered(Offer)
    case answered(Verdict)
    /// Bytes of contents handed over, and of all accepted items (nil where not known).
    case progressed(UInt64, of: UInt64?)
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
        case cancelled
    }

    package let code: Code
    /// One line.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// Sends activity items to one peer: finds it, connects, offers, moves what is accepted, and comes back with receipts.
package struct Sender: Sendable {
    let network: PeerNetwork
    private let ownName: String
    private let logger: Logger

    package init(network: PeerNetwork, ownName: String, logger: Logger) {
        self.network = network
        self.ownName = ownName
        self.logger = logger
    }

    /// - Parameters:
    ///   - cancellation: when requested, the other side is told and `SendFailure.cancelled` is thrown.
    ///   - observe: called in order, from one task.
    /// - Throws: `SendFailure`.
    package func send(
        _ sources: [any ItemSource],
        to reference: PeerReference,
        options: SendOptions,
        cancellation: Cancellation,
        observe: @escaping @Sendable (SendEvent) -> Void
    ) async throws(SendFailure) -> SendReport {
        let target = try await network.resolve(reference, within: options.finding)
        let connection = try await network.connect(to: target, within: options.finding)
        let offer = Offer(
            transfer: options.transfer ?? TransferID(),
            items: sources.map(\.offered), annotation: options.annotation, senderName: ownName,
            takesPart: options.takesPart)
        let job = SendJob(
            sources: sources, offer: offer, options: options, cancellation: cancellation, observe: observe)
        // Reading the disk blocks: not on the threads that everything else shares.
        let executor = network.blocking
        do {
            return try await withTaskExecutorPreference(executor) {
                try await HTTPClient.run(connection.http) { http in
                    try await job.run(WaftClient(http), peer: connection.peer)
                }
            }
        } catch let failure as LostAfterContents {
            return try await recover(job, failure, target, connection.peer)
        } catch {
            throw SendJob.failure(error, to: reference.description)
        }
    }

    /// The connection broke off when everything may have been stored: asks for the receipt on a new one, once.
    private func recover(
        _ job: SendJob,
        _ lost: LostAfterContents,
        _ target: PeerTarget,
        _ peer: PeerID
    ) async throws(SendFailure) -> SendReport {
        logger.info("the connection broke off; asking for the receipt again", metadata: ["reason": "\(lost.fault)"])
        do {
            let connection = try await network.connect(to: target.expecting(peer), within: job.options.finding)
            return try await HTTPClient.run(connection.http) { http in
                let receipt = try await WaftClient(http).receipt(
                    of: job.offer, answered: job.options.wait == .opened, patience: job.options.silence)
                return job.report(receipt, verdict: lost.verdict, name: lost.name, peer: peer)
            }
        } catch {
            throw SendFailure(
                .unreachable, "the connection broke off (\(lost.fault)), and the receipt could not be had")
        }
    }
}

/// The connection was lost while contents or receipt were on their way.
struct LostAfterContents: Error {
    var fault: HTTPFault
    var verdict: Verdict
    var name: String?
}
