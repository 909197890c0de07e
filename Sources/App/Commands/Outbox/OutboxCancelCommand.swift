import ArgumentParser
import Control
import Endpoints
import Outbox
import Settings
import Sharing

/// `waft outbox cancel`.
struct OutboxCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel jobs, and remove their copies.",
        discussion: "Example: waft outbox cancel 3 4. Items that have arrived stay on the other machine."
    )

    @Argument(
        help: ArgumentHelp("Numbers of jobs, as waft outbox list shows them.", valueName: "job"), completion: .jobs)
    var jobs: [Int]

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let access = try OutboxAccess()
        let now = WallTime.now
        try await OutboxEach.run(jobs, json: output.json) { number throws(CommandError) in
            try await access.change(.cancel(number)) { () throws(OutboxError) in
                try access.store.cancel(JobNumber(number), at: now)
            }
            output.json
                ? EventLine.jobCancelled(EventLine.Job(job: number)).print()
                : Console.shared.result("job \(number) cancelled")
        }
    }
}
