import Contacts
import Control
import Endpoints
import Inbox
import ItemSources
import Lines
import Outbox
import Sending
import Settings
import Sharing

extension SendCommand {
    /// `--queue`.
    func leaveToDaemon(
        _ sources: [any ItemSource], paths: [String], to names: [String], _ options: SendOptions,
        _ context: CommandContext
    ) async throws {
        let cancellation = Cancellation()
        let queuing = Queuing(
            context: context, sources: sources, paths: paths, texts: text, urls: url,
            options: options, queue: queue, cancellation: cancellation)
        let jobs = try await Interruption.watching(cancellation) { try queuing.run(to: names) }
        let isRunning = await queuing.tellDaemon()
        for job in jobs {
            if json {
                EventLine.queued(
                    EventLine.Queued(
                        job: job.number.value, to: job.destination.text, count: job.items.count, size: job.size,
                        daemon: isRunning)
                ).print()
            } else if !quiet {
                Console.shared.result(JobLine.queued(job, context.people))
            }
        }
        if !isRunning, !json, !quiet {
            Console.shared.note("waft: no receiver is running here: it is sent when waftd runs")
        }
        if json { EventLine.done(EventLine.Done(exit: .done)).print() }
    }
}
