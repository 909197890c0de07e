/// Bounds on what the outbox holds.
package enum OutboxLimits {
    /// Jobs that are not final.
    package static let openJobs = 1_000
    /// Final jobs that are remembered.
    package static let finalJobs = 200
    /// How long final jobs are remembered, and the copies of failed ones kept: milliseconds.
    package static let remembered: Int64 = 7 * 86_400_000
    /// How long a job is tried, unless the user says otherwise: milliseconds.
    package static let lifetime: Int64 = 7 * 86_400_000
    /// The longest that the user can say, in days.
    package static let longestDays = 365
    /// Bytes of copies, unless the settings say otherwise.
    package static let spooledBytes: UInt64 = 20_000_000_000
    /// Bytes that are left free on a disk of that size, unless the settings say otherwise: 1 GiB, or a twentieth of it
    /// where that is less.
    package static let reserve: @Sendable (UInt64) -> UInt64 = { min(1 << 30, $0 / 20) }
    /// Bytes of one file that describes a job.
    static let documentBytes = 256 << 20
    /// Bytes of the names and texts of one job's items.
    static let textBytes = 64 << 20
    /// Jobs that are sent at once.
    package static let places = 4
    /// A job that sends fewer than `stallBytes` in this time leaves its place if another job waits for one. Longer than
    /// the wait for the answer to an offer.
    package static let stall: Duration = .seconds(300)
    package static let stallBytes: UInt64 = 16 << 20
}

/// Why the outbox cannot do something: one line for the user.
package struct OutboxError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: Sendable {
        /// There is no such job.
        case unknown
        /// The job is not in a state for that.
        case unfit
        /// The outbox is full, or the disk is.
        case full
        /// The disk said no.
        case disk
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static func unknown(_ number: JobNumber) -> OutboxError {
        OutboxError(.unknown, "there is no job \(number) in the outbox")
    }
}
