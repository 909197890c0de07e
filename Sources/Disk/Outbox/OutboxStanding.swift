package import Sharing

/// How far a job has come: rewritten whole at each step.
package struct OutboxStanding: Codable, Sendable, Equatable {
    package enum State: String, Codable, Sendable, CaseIterable {
        /// For its time, or for the peer.
        case waiting
        /// Being sent; after a crash: it was.
        case sending
        /// Everything was stored (and opened, where that was asked for), by receipt.
        case done
        /// Given up.
        case failed
        case cancelled

        package var isFinal: Bool { self != .waiting && self != .sending }
    }

    package var state = State.waiting
    /// Attempts that were begun.
    package var attempts = 0
    /// When it is tried next; milliseconds since 1970-01-01 UTC.
    package var due: Int64
    /// When it is given up.
    package var expires: Int64
    /// The transfer as which it was offered last, or will be.
    package var transfer: String
    /// The items that this transfer has, by their places; nil for all.
    package var offered: [Int]?
    /// Who it was offered to under that number: from then on nobody else will do.
    package var peer: PeerID?
    /// What that peer calls itself.
    package var peerName: String?
    /// Why the last attempt came to nothing, or the job did.
    package var failure: OutboxFailure?
    /// What is settled of the items, by their place; others are still to be sent.
    package var outcomes: [Int: OutboxOutcome] = [:]
    /// When it became final.
    package var finished: Int64?
    /// Whether the user was told of the end.
    package var isReported = false

    package init(_ job: OutboxJob) {
        due = job.queued
        expires = job.expires
        transfer = job.transfer
    }

    /// Whether all that was to be sent has arrived.
    package func isDelivered(_ job: OutboxJob) -> Bool {
        job.items.indices.allSatisfy { outcomes[$0]?.isStored ?? false }
    }
}

/// What is settled of one item.
package struct OutboxOutcome: Codable, Sendable, Equatable {
    /// The name under which it was stored.
    package var stored: String?
    package var size: UInt64?
    package var digest: String?
    /// What the handler said.
    package var handler: String?
    package var handlerExit: Int?
    /// Why it is not, or not as asked for.
    package var failure: OutboxFailure?

    package var isStored: Bool { stored != nil && failure == nil }

    package init(stored: String, size: UInt64, digest: String, handler: HandlerAnswer, failure: OutboxFailure? = nil) {
        self.stored = stored
        self.size = size
        self.digest = digest
        self.handler = handler.state == .none ? nil : handler.state.rawValue
        handlerExit = handler.exitCode
        self.failure = failure
    }

    package init(_ failure: OutboxFailure) {
        self.failure = failure
    }
}

/// Why something was not sent.
package struct OutboxFailure: Codable, Sendable, Equatable, Error {
    package enum Code: String, Codable, Sendable, CaseIterable {
        case peerNotFound
        case unreachable
        case declined
        case ineligible
        case noRoom
        case noAnswer
        case handlerSaidNo
        /// The source is not what was queued, or was changed while it was read.
        case changed
        /// The source is not there, or cannot be read.
        case inputMissing
        case expired
        case unexpected
    }

    package var code: Code
    /// One line.
    package var reason: String
    /// Whether trying again can help.
    package var isFinal: Bool

    package init(_ code: Code, _ reason: String, isFinal: Bool) {
        self.code = code
        self.reason = reason
        self.isFinal = isFinal
    }
}
