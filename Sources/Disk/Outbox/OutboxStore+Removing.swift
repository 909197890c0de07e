import Foundation
import Glibc
import SystemCalls

extension OutboxStore {
    /// Removes a job that is over, with its copies: nothing is known of it any more. One that cannot be read is removed
    /// too, since nobody can send it.
    ///
    /// - Throws: `OutboxError`: `unknown`; `unfit` where it is not over.
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
                // Damaged, or of another version.
            }
            return try putAside(number)
        }
        // What a crash leaves of it goes with the next sweep.
        try? FileManager.default.removeItem(atPath: place)
    }

    /// Removes all jobs that are over.
    ///
    /// - Returns: how many there were.
    /// - Throws: `OutboxError`.
    @discardableResult
    package func removeFinal() throws(OutboxError) -> Int {
        var removed = 0
        for record in try contents().records where record.standing.state.isFinal {
            do throws(OutboxError) {
                try remove(record.number)
                removed += 1
            } catch  where error.code == .unknown || error.code == .unfit {
                // Somebody else has removed it just now, or has it tried again.
                continue
            }
        }
        return removed
    }

    /// Takes a job's folder away from under its number, at once and for good. To be called with the lock.
    /// - Returns: where it lies now: a place that a sweep clears.
    private func putAside(_ number: JobNumber) throws(OutboxError) -> String {
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
