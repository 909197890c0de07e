import Control
package import Lines
import Outbox
import Settings
import Sharing

extension Waft {
    /// The jobs of the outbox.
    package var outbox: Jobs { Jobs(waft: self) }
}

/// The outbox: its jobs are on the disk, and a running receiver sends them.
package struct Jobs: Sendable {
    let waft: Waft

    var store: OutboxStore { OutboxStore(folder: waft.home.outbox) }

    /// - Parameter all: also jobs that were sent or cancelled in the last days.
    /// - Returns: the jobs in the order of their numbers, and one line for each that cannot be read.
    /// - Throws: `WaftError`.
    package func list(all: Bool) async throws(WaftError) -> (jobs: [JobLine], faults: [String]) {
        let store = store
        let contents = try Self.doing { () throws(OutboxError) in try store.contents() }
        let records = contents.records.filter { all || ![.done, .cancelled].contains($0.standing.state) }
        return (await lines(records), contents.faults)
    }

    /// - Throws: `WaftError`, `inputMissing` if there is no such job.
    package func show(_ number: Int) async throws(WaftError) -> JobLine {
        let store = store
        let record = try Self.doing { () throws(OutboxError) in try store.record(JobNumber(number)) }
        return await lines([record])[0]
    }

    /// Ends a job, and removes its copies.
    /// - Throws: `WaftError`: `inputMissing` if there is no such job, `usage` if it is finished.
    package func cancel(_ number: Int) async throws(WaftError) -> JobCancelledLine {
        let store = store
        _ = try await waft.receiver.change(.outbox(.cancel(number))) { () throws(WaftError) in
            try Self.doing { () throws(OutboxError) in _ = try store.cancel(JobNumber(number), at: .now) }
        }
        return JobCancelledLine(job: number)
    }

    /// Tries a job now, even one that was given up.
    /// - Throws: as `cancel`.
    package func retry(_ number: Int) async throws(WaftError) -> JobRetriedLine {
        let store = store
        let isRunning = try await waft.receiver.change(.outbox(.retry(number))) { () throws(WaftError) in
            try Self.doing { () throws(OutboxError) in _ = try store.retry(JobNumber(number), at: .now) }
        }
        return JobRetriedLine(job: number, daemon: isRunning)
    }

    /// Removes a finished job and its copies.
    /// - Throws: `WaftError`: `inputMissing` if there is no such job, `usage` if it is not finished.
    package func remove(_ number: Int) async throws(WaftError) -> JobRemovedLine {
        let store = store
        try Self.doing { () throws(OutboxError) in try store.remove(JobNumber(number)) }
        await tellReceiver()
        return JobRemovedLine(job: number)
    }

    /// Removes all finished jobs and their copies.
    /// - Throws: `WaftError`.
    package func removeFinished() async throws(WaftError) -> JobsRemovedLine {
        let store = store
        let count = try Self.doing { () throws(OutboxError) in try store.removeFinal() }
        await tellReceiver()
        return JobsRemovedLine(jobCount: count)
    }

    /// Tells a running receiver that the folder has changed.
    private func tellReceiver() async { _ = try? await waft.receiver.ask(.outbox(.lookAgain)) }

    /// The receiver is asked for the progress only if a job is being sent.
    private func lines(_ records: [OutboxStore.Record]) async -> [JobLine] {
        var (moved, hasReceiver): ([Int: JobProgress], Bool) = ([:], true)
        if records.contains(where: { $0.standing.state == .sending }) {
            do throws(WaftError) {
                let reply = try await waft.receiver.askIfRunning(.outbox(.progress))
                hasReceiver = reply != nil
                if case .progress(let jobs)? = reply {
                    moved = Dictionary(jobs.map { ($0.job, $0) }) { _, later in later }
                }
            } catch {
                // The jobs are shown without it.
            }
        }
        let people = waft.people
        return records.map { record in
            JobLine(
                record, person: people.person,
                moved: moved[record.number.value].map { ($0.bytes, $0.total) }, hasReceiver: hasReceiver)
        }
    }

    private static func doing<Value>(_ body: () throws(OutboxError) -> Value) throws(WaftError) -> Value {
        do {
            return try body()
        } catch {
            switch error.code {
            case .unknown: throw WaftError(.inputMissing, error.description, hint: "see: waft outbox list --all")
            case .unfit: throw WaftError(.usage, error.description)
            case .full, .disk: throw WaftError(.unexpected, error.description)
            }
        }
    }
}
