package import Control
import Desktop
package import Executors
import HandlerCatalog
package import Handlers
import HookSandbox
package import Logging
package import Outbox
package import Settings
import Sharing

/// The outbox of a receiver: sends its jobs, and reports their outcomes to the user.
package struct OutboxService: Sendable {
    private let engine: OutboxEngine
    private let store: OutboxStore
    private let reports: OutboxReports

    /// Reads nothing yet.
    ///
    /// - Parameter program: the outbox hook; nil if none is set. Asked for when a job is over.
    package init(
        home: Home, settings: LiveSettings, program: @escaping @Sendable () -> NoticeProgram?, sender: Sender,
        logger: Logger
    ) {
        let reports = OutboxReports(settings, program, logger)
        self.reports = reports
        store = OutboxStore(folder: home.outbox)
        engine = OutboxEngine(
            store: store,
            sender: OutboxSender(sender: sender, ownName: { settings.current.name }) { sources in
                let settings = settings.current
                return OfferPreviews(
                    sources, rule: settings.previews,
                    maker: PreviewMaker(home: home, settings: settings, logger: logger))
            },
            report: { await reports.tell($0) },
            logger: logger
        )
    }

    package var summary: OutboxEngine.Summary { engine.summary }

    /// Until the task is cancelled.
    package func run(on executor: BlockingExecutor) async {
        await engine.run(on: executor)
        await reports.stop()
    }

    /// Cancels the job that is being sent by this transfer.
    /// - Returns: nil if there is none.
    package func cancel(transfer: String) async -> ControlReply? {
        let job = engine.progress.map(\.job).first { (try? store.record($0))?.standing.transfer == transfer }
        guard let job else { return nil }
        return await reply(to: .cancel(job.value))
    }

    package func reply(to request: OutboxRequest) async -> ControlReply {
        let error: OutboxError?
        switch request {
        case .lookAgain:
            engine.lookAgain()
            error = nil
        case .cancel(let number):
            error = await engine.cancel(JobNumber(number))
        case .retry(let number):
            error = await engine.retry(JobNumber(number))
        case .progress:
            return .progress(
                engine.progress.map { JobProgress(job: $0.job.value, bytes: $0.bytes, total: $0.total) })
        }
        guard let error else { return .done }
        return error.code == .unknown ? .unknown(error.description) : .refused(error.description)
    }
}

/// Tells the user that a job is over: on the desktop, and through the program of the configuration.
struct OutboxReports: Sendable {
    private let notifier: DesktopNotifier
    private let settings: LiveSettings
    private let program: @Sendable () -> NoticeProgram?
    private let logger: Logger

    init(_ settings: LiveSettings, _ program: @escaping @Sendable () -> NoticeProgram?, _ logger: Logger) {
        (self.settings, self.program, self.logger) = (settings, program, logger)
        notifier = DesktopNotifier(logger: logger, surplus: OutboxNotice.surplus)
    }

    func tell(_ record: OutboxStore.Record) async {
        let standing = record.standing
        logger.notice(
            "an outbox job is finished",
            metadata: [
                "job": "\(record.number)", "state": "\(standing.state.rawValue)",
                "reason": "\(standing.failure?.code.rawValue ?? "-")",
            ])
        if settings.current.notifications.includesOutbox { _ = notifier.show(OutboxNotice.request(for: record)) }
        guard let program = program() else { return }
        await program.tell(OutboxFacts(record).document, call: "outbox", environment: OutboxFacts(record).environment)
    }

    func stop() async {
        await notifier.stop()
    }
}

/// A notification about a finished job. The summary is our own text; foreign text is in the body.
enum OutboxNotice {
    static let surplus: @Sendable (Int) -> NotificationRequest = { count in
        NotificationRequest(
            summary: count == 1
                ? "1 more outbox job is finished" : "\(count) more outbox jobs are finished",
            body: "To see them all: waft outbox list", category: "transfer")
    }

    static func request(for record: OutboxStore.Record) -> NotificationRequest {
        let (job, standing) = (record.job, record.standing)
        let count = job.items.count == 1 ? "1 item" : "\(job.items.count) items"
        let isDone = standing.state == .done
        var lines = ["To \(standing.peerName ?? job.destination.text)"]
        lines += job.items.prefix(3).map(\.name)
        if job.items.count > 3 { lines.append("and \(job.items.count - 3) more") }
        if let failure = standing.failure { lines.append(failure.reason) }
        if !isDone { lines.append("waft outbox show \(record.number)") }
        return NotificationRequest(
            summary: isDone ? "Sent: \(count)" : "Could not be sent: \(count)",
            body: lines.joined(separator: "\n"), category: isDone ? "transfer.complete" : "transfer.error")
    }
}

extension NoticeProgram {
    /// The outbox hook that is set, also while its file is missing; nil if none is set.
    package static func outboxHook(_ settings: Settings, _ home: Home, _ logger: Logger) -> NoticeProgram? {
        settings.outboxHook.map { path in
            NoticeProgram(
                path: path,
                name: "outbox hook",
                scratchFolder: home.state + "/hooks",
                timeLimit: settings.hookTimeout,
                sandbox: !settings.hookIsSandboxed ? .none : settings.requiresSandbox ? .require : .strict,
                rules: settings.hookRules,
                forbiddenPlaces: home.handlerCatalog(settings).closed.paths,
                logger: logger
            )
        }
    }
}
