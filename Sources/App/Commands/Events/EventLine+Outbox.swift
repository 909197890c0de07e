/// Lines of `waft outbox`, beside `OutboxFields`.
extension EventLine {
    struct Job: Encodable {
        var job: Int
    }

    struct RetriedJob: Encodable {
        var job: Int
        /// Whether a receiver is running that sends it.
        var daemon: Bool
    }

    struct RemovedJobs: Encodable {
        var jobCount: Int
    }
}
