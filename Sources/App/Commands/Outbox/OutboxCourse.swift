import Control
import Outbox
import Sending
import Sharing

/// The receiver's report on the jobs that it is sending.
struct OutboxCourse: Sendable {
    /// Whether a receiver is running; without one, the jobs are not being sent any more.
    var isReceiverThere: Bool
    private var progress: [Int: JobProgress] = [:]

    init(isReceiverThere: Bool = true) {
        self.isReceiverThere = isReceiverThere
    }

    init(_ jobs: [JobProgress]) {
        isReceiverThere = true
        progress = Dictionary(jobs.map { ($0.job, $0) }) { _, later in later }
    }

    /// Nil if the job is not being sent, or if nothing of it has moved.
    func progress(of record: OutboxStore.Record) -> JobProgress? {
        record.standing.state == .sending ? progress[record.number.value] : nil
    }
}
