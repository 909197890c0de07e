import Digests
import Foundation
package import Sharing
import SystemCalls

/// The outbox on the disk: a folder for each job, with the request, the state and the copies.
///
/// ```
/// outbox/next            the number of the next job
/// outbox/12/job.json     written once, before the folder gets its name
/// outbox/12/standing.json    replaced whole at each step; missing before the first one
/// outbox/12/items/0      the copy of an item
/// outbox/.new-…          a draft, locked by its maker
/// ```
/// Both documents carry a checksum (`SummedDocument`): a damaged one could name other contents or another receiver. A
/// damaged job is kept and reported, and is not sent.
///
/// The daemon and the commands use it at the same time: each change requires the lock of the folder. Memory holds no
/// state; the disk holds the valid one. Calls block on the disk.
package struct OutboxStore: Sendable {
    /// Absolute path.
    package let folder: String

    /// - Parameter folder: absolute path; created with the first job.
    package init(folder: String) {
        self.folder = folder
    }

    /// A job and its state.
    package struct Record: Sendable, Equatable {
        package var job: OutboxJob
        package var standing: JobStatus

        package var number: JobNumber { job.number }

        package init(job: OutboxJob, standing: JobStatus) {
            self.job = job
            self.standing = standing
        }
    }

    /// The contents of the outbox.
    package struct Contents: Sendable {
        /// Sorted by their numbers.
        package var records: [Record] = []
        /// One line for each job that cannot be read.
        package var faults: [String] = []
    }

    // MARK: Reading

    /// All jobs that can be read.
    ///
    /// - Throws: `OutboxError` if the folder cannot be read; a missing outbox is empty.
    package func contents() throws(OutboxError) -> Contents {
        var contents = Contents()
        for number in try numbers() {
            do throws(OutboxError) {
                contents.records.append(try record(number))
            } catch  where error.code == .unknown {
                // The job has just been removed.
                continue
            } catch {
                contents.faults.append(error.description)
            }
        }
        return contents
    }

    /// - Throws: `OutboxError`, `unknown` if the job does not exist.
    package func record(_ number: JobNumber) throws(OutboxError) -> Record {
        let job: OutboxJob = try document("job.json", of: number, orElse: nil)
        let standing: JobStatus = try document("standing.json", of: number, orElse: JobStatus(job))
        guard job.v == OutboxJob.version, job.number == number, !job.items.isEmpty else {
            throw OutboxError(.disk, "this version cannot read job \(number) of the outbox")
        }
        return Record(job: job, standing: standing)
    }

    private func document<Value: Decodable>(
        _ name: String, of number: JobNumber, orElse missing: Value?
    ) throws(OutboxError) -> Value {
        let path = place(of: number) + "/" + name
        let bytes: [UInt8]
        do {
            bytes = try SmallFile.read(path, limit: OutboxLimits.documentBytes)
        } catch .missing {
            if let missing { return missing }
            throw .unknown(number)
        } catch {
            throw OutboxError(.disk, "job \(number) of the outbox cannot be read: \(path): \(error)")
        }
        if case .whole(let document) = SummedDocument.reading(bytes),
            let value = try? JSONDecoder().decode(Value.self, from: Data(document))
        {
            return value
        }
        throw OutboxError(
            .disk,
            "job \(number) of the outbox is damaged, or of an older version, and is not sent: \(path); send its "
                + "items again, and run: waft outbox remove \(number)")
    }

    /// The numbers of all jobs, in order.
    func numbers() throws(OutboxError) -> [JobNumber] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
                .compactMap { Int($0) }.filter { $0 > 0 }.sorted().map { JobNumber($0) }
        } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
            return []
        } catch {
            throw OutboxError(.disk, "the outbox \(folder) cannot be read: \(error.localizedDescription)")
        }
    }

    // MARK: Changing

    /// Changes the state of a job: reads it, changes it, and writes it to the disk before this returns.
    ///
    /// - Parameter body: returns false to leave the state unchanged.
    /// - Returns: the changed job; nil if `body` returned false.
    /// - Throws: `OutboxError`.
    package func change(
        _ number: JobNumber, _ body: (OutboxJob, inout JobStatus) -> Bool
    ) throws(OutboxError) -> Record? {
        try locked { () throws(OutboxError) in
            var record = try record(number)
            guard body(record.job, &record.standing) else { return nil }
            try Self.write(record.standing, to: place(of: number) + "/standing.json")
            return record
        }
    }

    static func write(_ document: some Encodable, to path: String) throws(OutboxError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes: [UInt8]
        do {
            bytes = SummedDocument.adding(to: try [UInt8](encoder.encode(document)) + [UInt8(ascii: "\n")])
        } catch {
            throw OutboxError(.disk, "a job of the outbox cannot be written: \(error)")
        }
        do throws(SystemError) {
            try SmallFile.replace(path, with: bytes, mode: 0o600)
        } catch {
            throw .disk("the outbox cannot be written: \(path)", error)
        }
    }

    /// Calls `body` while no other process or thread changes the outbox.
    func locked<Value>(_ body: () throws(OutboxError) -> Value) throws(OutboxError) -> Value {
        let lock: FolderLock
        do {
            lock = try FolderLock.taking(folder)
        } catch {
            throw .disk("the outbox \(folder) cannot be used", error)
        }
        let value = try body()
        lock.release()
        return value
    }

    func place(of number: JobNumber) -> String { "\(folder)/\(number)" }

    /// The path of an item's copy.
    package func path(ofCopy name: String, in number: JobNumber) -> String { place(of: number) + "/items/" + name }

    /// Cancels a job that is not being sent. If the daemon runs, callers ask the daemon instead.
    ///
    /// - Throws: `OutboxError`: `unknown`; `unfit` if the job is final.
    package func cancel(_ number: JobNumber, at now: WallTime) throws(OutboxError) {
        guard try change(number, { _, standing in standing.cancel(at: now) }) != nil else {
            throw OutboxError(.unfit, "job \(number) is finished; there is nothing to cancel")
        }
        dropCopies(of: number)
    }

    /// Lets a job be tried again at once, also one that was given up. The job must not be being sent.
    ///
    /// - Throws: `OutboxError`: `unknown`; `unfit` if the job is done or cancelled.
    @discardableResult
    package func retry(_ number: JobNumber, at now: WallTime) throws(OutboxError) -> Record {
        let record = try change(number) { job, standing in standing.retry(job, at: now) }
        guard let record else {
            let standing = try self.record(number).standing
            throw OutboxError(.unfit, "job \(number) is \(standing.state.rawValue); there is nothing to try again")
        }
        return record
    }

    // MARK: Sweeping

    /// Removes the copies of a final job.
    package func dropCopies(of number: JobNumber) {
        // The next sweep tries again to remove remaining copies.
        try? FileManager.default.removeItem(atPath: place(of: number) + "/items")
    }

    /// Removes the remains of crashes, and final jobs that have been remembered long enough.
    ///
    /// - Parameter now: nil if the time is not known: then no job is too old.
    package func sweep(at now: WallTime?) throws(OutboxError) {
        guard FileManager.default.fileExists(atPath: folder) else { return }
        try locked { () throws(OutboxError) in try sweepLocked(at: now) }
    }

    private func sweepLocked(at now: WallTime?) throws(OutboxError) {
        removeLeftDrafts()
        let final = try contents().records.filter(\.standing.state.isFinal)
        for record in final where record.standing.state != .failed { dropCopies(of: record.number) }
        let latest = Set(
            final.sorted { ($0.standing.finished ?? 0) > ($1.standing.finished ?? 0) }
                .prefix(OutboxLimits.finalJobs).map(\.number))
        for record in final where record.standing.isReported {
            let age = now.map {
                $0.milliseconds.subtractingReportingOverflow(record.standing.finished ?? 0).partialValue
            }
            if age ?? 0 > OutboxLimits.remembered || !latest.contains(record.number) {
                // A kill that left the job without its standing would make it new.
                guard let aside = try? putAside(record.number) else { continue }
                try? FileManager.default.removeItem(atPath: aside)
            }
        }
    }

    /// Removes drafts whose maker has ended. The caller must hold the lock.
    private func removeLeftDrafts() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(OutboxDraft.prefix) {
            let path = folder + "/" + name
            guard !OutboxDraft.isBeingMade(path) else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
