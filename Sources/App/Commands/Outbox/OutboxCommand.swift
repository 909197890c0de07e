import ArgumentParser
import Control
import Endpoints
import NIOPosix
import Outbox
import Settings
import Sharing

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

/// The outbox of this user, with errors as command failures.
struct OutboxAccess {
    let store: OutboxStore
    private let home: Home

    init() throws(CommandFailure) {
        home = try Surroundings().home
        store = OutboxStore(folder: home.outbox)
    }

    func contents() throws(CommandFailure) -> OutboxStore.Contents {
        do {
            return try store.contents()
        } catch {
            throw Self.failure(error)
        }
    }

    func record(_ number: Int) throws(CommandFailure) -> OutboxStore.Record {
        do {
            return try store.record(JobNumber(number))
        } catch {
            throw Self.failure(error)
        }
    }

    /// The progress of the jobs that are being sent, as the receiver reports it.
    ///
    /// - Parameter records: if none of them is being sent, the receiver is not asked.
    func course(of records: [OutboxStore.Record]) async -> OutboxCourse {
        guard records.contains(where: { $0.standing.state == .sending }) else { return OutboxCourse() }
        do throws(ControlError) {
            let socket = try ControlSocket(folder: home.run)
            let reply = try await ControlClient.ask(
                .outbox(.progress), at: socket, on: MultiThreadedEventLoopGroup.singleton)
            guard case .progress(let jobs) = reply else { return OutboxCourse() }
            return OutboxCourse(jobs)
        } catch {
            return OutboxCourse(isReceiverThere: error.code != .notRunning)
        }
    }

    /// Tells a running receiver that the folder has changed.
    func tellReceiver() async {
        guard let socket = try? ControlSocket(folder: home.run) else { return }
        _ = try? await ControlClient.ask(
            .outbox(.lookAgain), at: socket, on: MultiThreadedEventLoopGroup.singleton)
    }

    /// Lets the receiver do something; if none is running, it is done here.
    /// - Returns: whether a receiver is running.
    @discardableResult
    func change(
        _ request: OutboxRequest, here body: () throws(OutboxError) -> Void
    ) async throws(CommandFailure) -> Bool {
        let reply: ControlReply
        do throws(ControlError) {
            let socket = try ControlSocket(folder: home.run)
            reply = try await ControlClient.ask(
                .outbox(request), at: socket, on: MultiThreadedEventLoopGroup.singleton)
        } catch {
            guard error.code == .notRunning else { throw Daemon.failure(error) }
            do throws(OutboxError) {
                try body()
                return false
            } catch {
                throw Self.failure(error)
            }
        }
        switch reply {
        case .done: return true
        case .unknown(let reason): throw CommandFailure(.inputMissing, TerminalText.escaped(reason, limit: 1_000))
        case .refused(let reason): throw CommandFailure(.usage, TerminalText.escaped(reason, limit: 1_000))
        default: throw CommandFailure(.unexpected, "the receiver gave no answer")
        }
    }

    static func failure(_ error: OutboxError) -> CommandFailure {
        let exit: WaftExit =
            switch error.code {
            case .unknown: .inputMissing
            case .unfit: .usage
            default: .unexpected
            }
        let hint = error.code == .unknown ? "see: waft outbox list --all" : nil
        return CommandFailure(exit, TerminalText.escaped(error.description, limit: 1_000), hint: hint)
    }
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
        let access = try OutboxAccess()
        let contents = try access.contents()
        let records = contents.records.filter { all || ![.done, .cancelled].contains($0.standing.state) }
        if records.isEmpty, !output.json { Console.shared.note("nothing waits to be sent") }
        let course = await access.course(of: records)
        for record in records {
            Console.shared.result(
                output.json ? EventLine.job(OutboxFields(record, course)).text : OutboxText.line(record, course))
        }
        for fault in contents.faults { Console.shared.note("waft: \(TerminalText.escaped(fault, limit: 1_000))") }
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
        let access = try OutboxAccess()
        let record = try access.record(job)
        let course = await access.course(of: [record])
        if output.json { return EventLine.job(OutboxFields(record, course)).print() }
        for line in OutboxText.lines(record, course) { Console.shared.result(line) }
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
        let access = try OutboxAccess()
        let now = WallTime.now
        try await OutboxEach.run(jobs, json: output.json) { number throws(CommandFailure) in
            try await access.change(.cancel(number)) { () throws(OutboxError) in
                try access.store.cancel(JobNumber(number), at: now)
            }
            output.json
                ? EventLine.jobCancelled(EventLine.Job(job: number)).print()
                : Console.shared.result("job \(number) cancelled")
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
        let access = try OutboxAccess()
        let now = WallTime.now
        try await OutboxEach.run(jobs, json: output.json) { number throws(CommandFailure) in
            let isRunning = try await access.change(.retry(number)) { () throws(OutboxError) in
                try access.store.retry(JobNumber(number), at: now)
            }
            output.json
                ? EventLine.jobRetried(EventLine.RetriedJob(job: number, daemon: isRunning)).print()
                : Console.shared.result("job \(number) is tried \(isRunning ? "now" : "when waftd runs")")
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
        try await OutboxEach.run(jobs, json: output.json) { number throws(CommandFailure) in
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

/// Handles jobs one after another: each failure is reported, and the first decides the exit code.
private enum OutboxEach {
    static func run(_ jobs: [Int], json: Bool, _ body: (Int) async throws(CommandFailure) -> Void) async throws {
        var first: CommandFailure?
        for job in jobs {
            do throws(CommandFailure) {
                try await body(job)
            } catch {
                json
                    ? EventLine(error, of: .job(job)).print() : Console.shared.note("waft: \(error.description)")
                first = first ?? error
            }
        }
        if let first { throw first.exit.code }
    }
}
