package import Outbox
package import Sharing

/// A job of the outbox.
package struct JobLine: Line {
    package static let event = "job"

    package struct Item: Encodable, Sendable {
        package var item: Int
        package var name: String
        package var kind: String
        package var type: String
        /// Bytes; absent while they are unknown.
        package var size: UInt64?
        /// `path`, `copy`, `text` or `url`.
        package var source: String
        package var path: String?
        package var stored: String?
        package var digest: String?
        package var handlerAnswer: String?
        package var reason: String?
        /// The path or name of the source of a copy.
        @Unsaid package var origin: String
    }

    package var job: Int
    package var state: JobState
    package var to: String
    package var peer: PersonFields?
    package var queued: LineTime
    package var expires: LineTime
    /// Time of the next attempt; absent if there is none.
    package var due: LineTime?
    package var finished: LineTime?
    package var attemptCount: Int
    /// Bytes that were handed over or were there already, and of how many: while it is being sent.
    package var bytes: UInt64?
    package var total: UInt64?
    package var transfer: String
    package var size: UInt64
    package var count: Int
    /// The first `shownItems`.
    package var items: [Item]
    package var reason: String?
    /// As an exit code of `waft send`.
    package var exit: WaftExit?
    /// The user's name for the contact to whose key it goes; nil if it goes to no contact.
    @Unsaid package var contact: String?
    /// Whether it was being sent by a receiver that has ended.
    @Unsaid package var isInterrupted: Bool
    @Unsaid package var subject: String?
    @Unsaid package var note: String?
}

extension JobLine {
    /// - Parameters:
    ///   - person: for a key and the name that the peer gives itself.
    ///   - moved: bytes that were handed over or were there already, and of how many; nil if nothing has moved.
    ///   - hasReceiver: whether a receiver is running, which sends it.
    package init(
        _ record: OutboxStore.Record, person: (PeerID, String?) -> Person,
        moved: (bytes: UInt64, total: UInt64?)? = nil, hasReceiver: Bool = true
    ) {
        let (job, standing) = (record.job, record.standing)
        let isSending = standing.state == .sending
        self.job = record.number.value
        state = standing.state
        to = job.destination.text
        if let key = job.destination.key ?? standing.peer {
            peer = person(key, standing.peerName).fields
        } else if standing.wasOffered {
            peer = PersonFields(name: standing.peerName)
        }
        contact = job.destination.key.flatMap { person($0, nil).introduction.contact }
        queued = LineTime(milliseconds: job.queued)
        expires = LineTime(milliseconds: standing.expires)
        finished = standing.finished.map { LineTime(milliseconds: $0) }
        due = standing.state == .waiting ? LineTime(milliseconds: standing.due) : nil
        (bytes, total) = isSending ? (moved?.bytes, moved?.total) : (nil, nil)
        isInterrupted = isSending && !hasReceiver
        (attemptCount, transfer, size, count) = (standing.attempts, standing.transfer, job.size, job.items.count)
        items = job.items.prefix(shownItems).enumerated().map { Item($0, $1, standing.outcomes[$0]) }
        reason = standing.failure?.reason
        exit = standing.state == .done ? .done : standing.failure.map { WaftExit($0.code) }
        (subject, note) = (job.options.annotation[Offer.subjectKey], job.options.annotation["note"])
    }
}

extension JobLine.Item {
    fileprivate init(_ number: Int, _ item: OutboxItem, _ outcome: SettledItem?) {
        let (source, path): (String, String?) =
            switch item.content {
            case .path(let path): ("path", path)
            case .spooled: ("copy", nil)
            case .text: ("text", nil)
            case .url: ("url", nil)
            }
        self.init(
            item: number, name: item.name, kind: item.kind.rawValue, type: item.type, size: outcome?.size ?? item.size,
            source: source, path: path, stored: outcome?.stored, digest: outcome?.digest,
            handlerAnswer: outcome?.handler, reason: outcome?.failure?.reason, origin: item.origin)
    }
}

/// The user has cancelled a job.
package struct JobCancelledLine: Line {
    package static let event = "jobCancelled"

    package let job: Int

    package init(job: Int) { self.job = job }
}

/// The user wants a job to be tried now.
package struct JobRetriedLine: Line {
    package static let event = "jobRetried"

    package let job: Int
    /// Whether a receiver is running that sends it.
    package let daemon: Bool

    package init(job: Int, daemon: Bool) { (self.job, self.daemon) = (job, daemon) }
}

/// A finished job was removed.
package struct JobRemovedLine: Line {
    package static let event = "jobRemoved"

    package let job: Int

    package init(job: Int) { self.job = job }
}

/// All finished jobs were removed.
package struct JobsRemovedLine: Line {
    package static let event = "jobsRemoved"

    package let jobCount: Int

    package init(jobCount: Int) { self.jobCount = jobCount }
}
