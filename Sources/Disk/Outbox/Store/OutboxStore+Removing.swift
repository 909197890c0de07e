import Foundation
import Glibc
import Sharing
import SystemCalls

extension OutboxStore {
    /// Removes a final job with its copies and all its records. An unreadable job is removed too, since it cannot be
    /// sent.
    ///
    /// - Throws: `OutboxError`: `unknown`; `unfit` if the job is not final.
    package func remove(_ number: JobNumber) throws(OutboxError) {
        let place = try locked { () throws(OutboxError) in
            do throws(OutboxError) {
                let state = try record(number).standing.state
                guard state.isFinal else {
                    throw OutboxError(
                        .unfit,
                        "job \(number) \(state == .sending ? "is being sent" : "waits to be sent"); to end it: "
                            + "waft outbox cancel \(number)")
                }
            } catch  where error.code == .disk {
                // The job is damaged, or of another version.
            }
            return try putAside(number)
        }
        // The next sweep removes any remains after a crash.
        try? FileManager.default.removeItem(atPath: place)
    }

    /// Removes all final jobs.
    ///
    /// - Returns: the number of removed jobs.
    /// - Throws: `OutboxError`.
    @discardableResult
    package func removeFinal() throws(OutboxError) -> Int {
        var removed = 0
        for record in try contents().records where record.standing.state.isFinal {
            do throws(OutboxError) {
                try remove(record.number)
                removed += 1
            } catch  where error.code == .unknown || error.code == .unfit {
                // Another process has just removed the job, or had it tried again.
                continue
            }
        }
        return removed
    }

    /// Moves a job's folder away from its number, atomically. The caller must hold the lock.
    /// - Returns: the new path, which a sweep clears.
    func putAside(_ number: JobNumber) throws(OutboxError) -> String {
        let aside = folder + "/" + OutboxDraft.prefix + UUID().uuidString.lowercased()
        do throws(SystemError) {
            try systemCall { rename(place(of: number), aside) }
            try SmallFile.syncFolder(folder)
        } catch {
            if error.number == ENOENT { throw .unknown(number) }
            throw .disk("job \(number) cannot be removed", error)
        }
        return aside
    }
}
