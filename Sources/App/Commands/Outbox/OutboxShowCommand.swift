import ArgumentParser
import Control
import Endpoints
import Outbox
import Settings
import Sharing

/// `waft outbox show`.
struct OutboxShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show everything about a job, with the result of each item.",
        discussion: "Example: waft outbox show 3"
    )

    @Argument(
        help: ArgumentHelp("Number of the job, as waft outbox list shows it.", valueName: "job"), completion: .jobs)
    var job: Int

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let access = try OutboxAccess()
        let record = try access.record(job)
        let course = await access.course(of: [record])
        if output.json { return EventLine.job(OutboxFields(record, access.people, course)).print() }
        for line in OutboxText.lines(record, access.people, course) { Console.shared.result(line) }
    }
}
