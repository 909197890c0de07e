/// Bounds of the outbox.
package enum OutboxLimits {
    /// Maximum number of jobs that are not final.
    package static let openJobs = 1_000
    /// Maximum number of final jobs that are remembered.
    package static let finalJobs = 200
    /// How long final jobs are remembered, and the copies of failed ones kept: milliseconds.
    package static let remembered: Int64 = 7 * 86_400_000
    /// How long a job is tried, unless the user chooses another time: milliseconds.
    package static let lifetime: Int64 = 7 * 86_400_000
    /// Maximum bytes of all copies, unless the settings give another number.
    package static let spooledBytes: UInt64 = 20_000_000_000
    /// Bytes left free on a disk of the given size, unless the settings give another number: 1 GiB, or a twentieth of
    /// the disk if that is less.
    package static let reserve: @Sendable (UInt64) -> UInt64 = { min(1 << 30, $0 / 20) }
    /// Maximum bytes of one file that describes a job.
    static let documentBytes = 256 << 20
    /// Maximum bytes of the names and texts of one job's items.
    static let textBytes = 64 << 20
    /// Maximum number of jobs that are begun at once. Jobs that wait for an answer can add to those that are sent.
    package static let places = 4
    /// A job that has not begun to send after this time waits for its peer, or for a person there, and takes no place.
    static let opening: Duration = .seconds(10)
    /// Maximum number of jobs that are under way, for each place.
    static let attemptsPerPlace = 8
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
        /// The job's state does not allow the action.
        case unfit
        /// The outbox or the disk is full.
        case full
        /// An error of the disk.
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
