import ContentCheck
import Desktop
import Executors
import Foundation
import HandlerCatalog
import Handlers
import Inbox
import Logging
import Settings
import Streams
import SystemCalls
import UniformTypes

/// Keeps the handlers of a running receiver as the catalog and the settings have them.
struct HandlerUpkeep: Sendable {
    private let handlers: CurrentHandlers
    private let calls: HandlerCalls
    private let engine: DeliveryEngine
    private let inbox: FileInbox
    private let blocking: BlockingExecutor
    private let logger: Logger
    /// The handlers that stay are to be started, or have changed.
    private let keeping = Mailbox<Void>()

    init(
        _ handlers: CurrentHandlers, calls: HandlerCalls, engine: DeliveryEngine, inbox: FileInbox,
        blocking: BlockingExecutor, logger: Logger
    ) {
        (self.handlers, self.calls, self.engine) = (handlers, calls, engine)
        (self.inbox, self.blocking, self.logger) = (inbox, blocking, logger)
    }

    /// Delivers, and uses each change of the handlers, until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await engine.run(on: blocking) }
            group.addTask {
                // Before the entry is written: a change that comes meanwhile is not missed.
                let changes = handlers.catalog.changes()
                await withTaskExecutorPreference(blocking) { await refreshDesktopEntry() }
                for await snapshot in changes {
                    await use(snapshot)
                    await withTaskExecutorPreference(blocking) { await refreshDesktopEntry() }
                }
            }
            group.addTask {
                for await _ in keeping { await calls.keep(handlers.choice.keptPrograms) }
            }
        }
        handlers.catalog.stop()
    }

    /// Starts the handlers that run as long as the receiver does. Returns at once.
    func startKept() { keeping.post(()) }

    /// Reads the handlers again. When this returns, they apply to all further offers and arrivals.
    func refresh() async {
        await Task(executorPreference: blocking) { await use(handlers.catalog.refresh()) }.value
    }

    /// Tells the handlers of a lock or an unlock, and returns when they know.
    func tell(_ notice: LaunchRules.Notice) async { await calls.tell(notice, to: handlers.choice.programs) }

    /// Gives the desktop entry, if one is installed, the schemes of the present handlers.
    private func refreshDesktopEntry() async {
        do throws(SystemError) {
            try await SchemeEntryFile()?.refresh(
                schemes: handlers.catalog.current.openedSchemes.map(\.text),
                home: Home.root(ProcessInfo.processInfo.environment))
        } catch {
            logger.info("the desktop entry cannot be changed", metadata: ["reason": "\(error)"])
        }
    }

    private func use(_ snapshot: CatalogSnapshot) async {
        inbox.use(ContentChecker(types: snapshot.registry))
        engine.handlersChanged()
        await calls.useSettings(of: handlers.choice.residentPrograms)
        startKept()
    }
}
