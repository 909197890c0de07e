package import Sharing

/// The state of a job: rewritten whole at each step.
package struct JobStatus: Codable, Sendable, Equatable {
    package var state = JobState.waiting
    /// The number of attempts begun.
    package var attempts = 0
    /// The time of the next attempt; milliseconds since 1970-01-01 UTC.
    package var due: Int64
    /// When the job is given up; milliseconds since 1970-01-01 UTC.
    package var expires: Int64
    /// The identifier of the last offer, or of the next one.
    package var transfer: String
    /// Indices of the items in this transfer; nil for all.
    package var offered: [Int]?
    /// The peer with a key that has the offer with this identifier: from then on no other peer is accepted.
    package var peer: PeerID?
    /// Whether a peer without a key may have the offer. Nothing can recognise that peer later. Nil means false.
    package var isWithKeyless: Bool?
    /// The peer's own name.
    package var peerName: String?
    /// The failure of the last attempt, or of the job.
    package var failure: OutboxJobError?
    /// The outcomes of the settled items, by their indices; other items are still to be sent.
    package var outcomes: [Int: SettledItem] = [:]
    /// When the job became final; milliseconds since 1970-01-01 UTC.
    package var finished: Int64?
    /// Whether the end was reported to the user.
    package var isReported = false

    package init(_ job: OutboxJob) {
        due = job.queued
        expires = job.expires
        transfer = job.transfer
    }

    /// Whether a peer may have the offer with this identifier.
    package var wasOffered: Bool { peer != nil || isWithKeyless == true }

    /// Whether all items have arrived.
    package func isDelivered(_ job: OutboxJob) -> Bool {
        job.items.indices.allSatisfy { outcomes[$0]?.isStored ?? false }
    }
}

/// The final outcome of one item.
package struct SettledItem: Codable, Sendable, Equatable {
    /// The name under which the receiver stored it.
    package var stored: String?
    package var size: UInt64?
    package var digest: String?
    /// The answer of the handler.
    package var handler: String?
    package var handlerExit: Int?
    /// Why it is not stored, or not as requested.
    package var failure: OutboxJobError?

    package var isStored: Bool { stored != nil && failure == nil }

    package init(stored: String, size: UInt64, digest: String, handler: HandlerAnswer, failure: OutboxJobError? = nil) {
        self.stored = stored
        self.size = size
        self.digest = digest
        self.handler = handler.state == .none ? nil : handler.state.rawValue
        handlerExit = handler.exitCode
        self.failure = failure
    }

    package init(_ failure: OutboxJobError) {
        self.failure = failure
    }
}

/// The reason why an item or a job was not sent.
package struct OutboxJobError: Codable, Sendable, Equatable, Error {
    package enum Code: String, Codable, Sendable, CaseIterable {
        case peerNotFound
        case unreachable
        case declined
        case ineligible
        case noRoom
        case noAnswer
        case handlerSaidNo
        /// The source differs from the queued one, or changed while it was read.
        case changed
        /// The source is missing, or cannot be read.
        case inputMissing
        case expired
        case unexpected
    }

    package var code: Code
    /// One line.
    package var reason: String
    /// Whether trying again cannot help.
    package var isFinal: Bool

    package init(_ code: Code, _ reason: String, isFinal: Bool) {
        self.code = code
        self.reason = reason
        self.isFinal = isFinal
    }
}
