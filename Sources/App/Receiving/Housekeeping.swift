import Inbox
import Journal
import Logging
import Sharing

/// Removes data that is too old, for as long as a receiver runs: the kept parts of interrupted items, and old arrivals
/// in the journal. Repeats what the journal could not record.
struct Housekeeping: Sendable {
    let inbox: FileInbox
    let journal: Journal
    let reception: Reception
    /// Where items are removed: threads that may wait for the disk.
    let executor: any TaskExecutor
    let logger: Logger

    /// Days for which finished arrivals stay in the journal, and the number that stays in any case.
    private static let rememberedDays: Int64 = 365
    private static let rememberedArrivals = 100_000
    private static let interval: Duration = .seconds(3_600)
    private static let settlingInterval: Duration = .seconds(30)

    /// Until the task is cancelled.
    func run() async {
        let start = ContinuousClock.now
        let calendar = CautiousClock(wall: { .now }, steady: { ContinuousClock.now - start })
        // Nothing is too old before anybody knows how late it is.
        var pause = CautiousClock.settling + .seconds(1)
        while true {
            do { try await Task.sleep(for: pause) } catch { return }
            await withTaskExecutorPreference(executor) { tidy(calendar.now()) }
            pause = Self.interval
        }
    }

    /// Records stored items again that the journal could not record, until the task is cancelled.
    func settle() async {
        while (try? await Task.sleep(for: Self.settlingInterval)) != nil {
            guard reception.unsettledItems > 0 else { continue }
            await withTaskExecutorPreference(executor) { reception.settleAgain() }
            let rest = reception.unsettledItems
            if rest > 0 {
                logger.warning("stored items wait until the journal can be written", metadata: ["items": "\(rest)"])
            } else {
                logger.notice("the journal knows all stored items again")
            }
        }
    }

    private func tidy(_ now: WallTime?) {
        inbox.trimPartials()
        guard let now else { return }
        do {
            let limit = now.milliseconds.subtractingReportingOverflow(Self.rememberedDays * 86_400_000)
            guard !limit.overflow else { return }
            try journal.prune(
                keeping: Self.rememberedArrivals, olderThan: WallTime(milliseconds: limit.partialValue))
        } catch {
            logger.warning("the journal could not be shortened", metadata: ["reason": "\(error)"])
        }
    }
}
