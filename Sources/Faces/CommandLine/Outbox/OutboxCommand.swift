import ArgumentParser
import Lines
import Operations

/// `waft outbox`: the jobs that wait to be sent.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Show and change the jobs of the outbox.",
        discussion: """
            Examples:
              waft send report.pdf --to kitchen --queue
              waft outbox
              waft outbox show 3
              waft outbox cancel 3
              waft outbox remove 3 4

            A job is tried with growing pauses, and at once when its peer comes into view, for seven days.
            """,
        subcommands: [
            OutboxListCommand.self, OutboxShowCommand.self, OutboxCancelCommand.self, OutboxRetryCommand.self,
            OutboxRemoveCommand.self,
        ],
        defaultSubcommand: OutboxListCommand.self
    )
}

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
        let (jobs, faults) = try await output.doing { waft throws(WaftError) in try await waft.outbox.list(all: all) }
        if jobs.isEmpty { output.note("nothing waits to be sent") }
        for job in jobs { output.show(job) }
        for fault in faults { Console.shared.note("waft: \(TerminalText.escaped(fault, limit: 1_000))") }
    }
}

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
        let line = try await output.doing { waft throws(WaftError) in try await waft.outbox.show(job) }
        output.show(line, as: line.details)
    }
}

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
        try await output.each(jobs, called: { .job($0) }) { job, waft throws(WaftError) in
            try await waft.outbox.cancel(job)
        }
    }
}

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
        try await output.each(jobs, called: { .job($0) }) { job, waft throws(WaftError) in
            try await waft.outbox.retry(job)
        }
    }
}

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
        if all {
            return try await output.show { waft throws(WaftError) in try await waft.outbox.removeFinished() }
        }
        try await output.each(jobs, called: { .job($0) }) { job, waft throws(WaftError) in
            try await waft.outbox.remove(job)
        }
    }
}
