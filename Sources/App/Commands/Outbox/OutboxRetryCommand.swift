import ArgumentParser
import Control
import Endpoints
import Outbox
import Settings
import Sharing

/// `waft outbox retry`.
struct OutboxRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Try jobs now, even those that were given up.",
        discussion: "Example: waft outbox retry 3"
    )

    @Argument(
        help: ArgumentHelp("Numbers of jobs, as waft outbox list shows them.", valueName: "job"), completion: .jobs)
    var jobs: [Int]

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let access = try OutboxAccess()
        let now = WallTime.now
        try await OutboxEach.run(jobs, json: output.json) { number throws(CommandError) in
            let isRunning = try await access.change(.retry(number)) { () throws(OutboxError) in
                try access.store.retry(JobNumber(number), at: now)
            }
            output.json
                ? EventLine.jobRetried(EventLine.RetriedJob(job: number, daemon: isRunning)).print()
                : Console.shared.result("job \(number) is tried \(isRunning ? "now" : "when waftd runs")")
        }
    }
}
