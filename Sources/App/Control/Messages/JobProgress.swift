import UniformTypes

/// The progress of a job of the outbox that is being sent.
package struct JobProgress: Codable, Sendable, Equatable {
    package var job: Int
    /// Bytes of contents that were handed over, or were there already.
    package var bytes: UInt64
    /// Bytes of all accepted items; nil if unknown.
    package var total: UInt64?

    package init(job: Int, bytes: UInt64, total: UInt64?) {
        self.job = job
        self.bytes = bytes
        self.total = total
    }
}
