import ArgumentParser
import Control
import Endpoints
import Outbox
import Settings
import Sharing

/// `waft outbox list`.
struct OutboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List jobs that wait, are being sent, or were given up.",
        discussion: "Example: waft outbox list --all --json"
    )

    @Flag(name: .long, help: "Also list jobs that were sent or cancelled in the last days.")
    var all = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let access = try OutboxAccess()
        let contents = try access.contents()
        let records = contents.records.filter { all || ![.done, .cancelled].contains($0.standing.state) }
        if records.isEmpty, !output.json { Console.shared.note("nothing waits to be sent") }
        let (course, people) = (await access.course(of: records), access.people)
        for record in records {
            Console.shared.result(
                output.json
                    ? EventLine.job(OutboxFields(record, people, course)).text
                    : OutboxText.line(record, people, course))
        }
        for fault in contents.faults { Console.shared.note("waft: \(TerminalText.escaped(fault, limit: 1_000))") }
    }
}
