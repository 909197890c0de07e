import ArgumentParser
import Control
import Endpoints
import Outbox
import Settings
import Sharing

/// `waft outbox remove`.
struct OutboxRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove finished jobs and their copies.",
        discussion: """
            Examples:
              waft outbox remove 3 4
              waft outbox remove --all

            A job is finished when it was sent, cancelled, or given up; to end another one: waft outbox cancel. Neither the \
            original files nor the received ones are removed.
            """
    )

    @Argument(
        help: ArgumentHelp("Numbers of jobs, as waft outbox list --all shows them.", valueName: "job"),
        completion: .jobs)
    var jobs: [Int] = []

    @Flag(name: .long, help: "All finished jobs.")
    var all = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
        if jobs.isEmpty != all { throw ValidationError("give the numbers of jobs, or --all") }
    }

    func run() async throws {
        let access = try OutboxAccess()
        if all {
            let count: Int
            do throws(OutboxError) {
                count = try access.store.removeFinal()
            } catch {
                throw OutboxAccess.failure(error)
            }
            await access.tellReceiver()
            return output.json
                ? EventLine.jobsRemoved(EventLine.RemovedJobs(jobCount: count)).print()
                : Console.shared.result(count == 1 ? "1 job removed" : "\(count) jobs removed")
        }
        try await OutboxEach.run(jobs, json: output.json) { number throws(CommandError) in
            do throws(OutboxError) {
                try access.store.remove(JobNumber(number))
            } catch {
                throw OutboxAccess.failure(error)
            }
            await access.tellReceiver()
            output.json
                ? EventLine.jobRemoved(EventLine.Job(job: number)).print()
                : Console.shared.result("job \(number) removed")
        }
    }
}
