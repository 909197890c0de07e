import Contacts
import Control
import Inbox
package import Lines
import Outbox
import Sending
import Settings
package import Sharing

/// A sending that is left to the daemon.
package struct QueuedItems: Sendable {
    package var sources: [any ItemSource]
    /// The origins of the sources, in their order: paths, then texts, then URLs; then come programs.
    package var paths: [String]
    package var texts: [String]
    package var urls: [String]
    /// Copy the files now, and send the copies.
    package var isSnapshot: Bool
    /// Days after which it is given up, at most `longestDays`; nil for `OutboxLimits.lifetime`.
    package var days: Int?

    package static let longestDays = 365

    package init(
        _ sources: [any ItemSource], paths: [String], texts: [String], urls: [String], isSnapshot: Bool, days: Int?
    ) {
        (self.sources, self.paths, self.texts, self.urls) = (sources, paths, texts, urls)
        (self.isSnapshot, self.days) = (isSnapshot, days)
    }

    fileprivate func add(_ number: Int, to draft: OutboxDraft) throws {
        let source = sources[number]
        // What can be read once only, such as standard input or the output of a program, is read now: there is no peer that
        // could accept it first.
        guard source.isRepeatable else { return try draft.addCopy(of: source) }
        switch number {
        case ..<paths.count:
            let path = paths[number]
            if isSnapshot { return try draft.addCopy(of: source) }
            try draft.addReference(source, path: PathText.absolute(path))
        case ..<(paths.count + texts.count):
            try draft.addText(texts[number - paths.count], offered: source.offered)
        default:
            try draft.addURL(urls[number - paths.count - texts.count], offered: source.offered)
        }
    }
}

extension Jobs {
    /// Makes a job for each peer, and tells a running receiver. Blocks while files are copied.
    /// - Parameter names: of the peers, as the user typed them.
    /// - Returns: the jobs, in the order of the peers.
    /// - Throws: `WaftError`; jobs that were made before stay.
    package func add(
        _ items: QueuedItems, to names: [String], _ options: SendOptions, cancellation: Cancellation
    ) async throws(WaftError) -> [QueuedLine] {
        var jobs: [(OutboxJob, contact: String?)] = []
        let group = options.relays && names.count > 1 ? TransferID().text : nil
        for destination in try destinations(names) {
            let contact = destination.key.flatMap { waft.people.person($0, callingItself: nil).introduction.contact }
            jobs.append((try job(items, to: destination, options, group, cancellation), contact))
        }
        let isRunning = (try? await waft.receiver.ask(.outbox(.lookAgain))) == .done
        return jobs.map { job, contact in
            QueuedLine(
                job: job.number.value, to: job.destination.text, count: job.items.count, size: job.size,
                daemon: isRunning, contact: contact)
        }
    }

    /// The name of a contact means its key, even if the contact has another name when the job is sent.
    private func destinations(_ names: [String]) throws(WaftError) -> [OutboxJob.Destination] {
        try names.map { name throws(WaftError) in
            guard case .name = try PeerReference(typed: name) else { return OutboxJob.Destination(text: name) }
            do {
                let contact = try waft.home.contactBook().snapshot().contact(named: name)
                return OutboxJob.Destination(text: name, key: contact?.id)
            } catch {
                throw WaftError(.unexpected, "\(error)")
            }
        }
    }

    private func job(
        _ items: QueuedItems, to destination: OutboxJob.Destination, _ options: SendOptions, _ group: String?,
        _ cancellation: Cancellation
    ) throws(WaftError) -> OutboxJob {
        try copying("nothing was queued", cancellation) { draft in
            for number in items.sources.indices { try items.add(number, to: draft) }
            if cancellation.isRequested { throw CancellationError() }
            return try draft.commit(
                to: destination,
                options: OutboxJob.Options(
                    annotation: options.annotation, takesPart: options.takesPart,
                    waitsForHandlers: options.wait == .opened, group: group),
                at: .now, lifetime: items.days.map { Int64($0) * 86_400_000 } ?? OutboxLimits.lifetime)
        }
    }

    /// Copies items within the bounds of the outbox.
    /// - Parameter remains: says what a cancellation means.
    /// - Throws: `WaftError`.
    func copying<Value>(
        _ remains: String, _ cancellation: Cancellation, _ body: (OutboxDraft) throws -> Value
    ) throws(WaftError) -> Value {
        do {
            let settings = waft.settings
            return try body(
                OutboxDraft.make(
                    in: store, quota: settings.outboxQuota, reserve: { settings.reserve.bytes(ofFileSystem: $0) },
                    isCancelled: { cancellation.isRequested }))
        } catch is CancellationError {
            throw WaftError(.interrupted, "cancelled; \(remains)")
        } catch let fault as SourceError {
            throw WaftError(fault)
        } catch {
            throw WaftError(.unexpected, "\(error)")
        }
    }
}
