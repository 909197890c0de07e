import HandlerCatalog
import Handlers
import HookSandbox
import Logging
import Sending
import Settings
import Sharing
import Synchronization

/// The programs that the settings name, ready to be started.
struct ReceiverPrograms: Sendable {
    /// Nil if none is set, as the others.
    let hook: HandlerProgram?
    /// Answers offers beside the people.
    let arbiter: OfferArbiter?
    let outboxHook: NoticeProgram?

    /// Programs that are missing are here too: they may come back at any time.
    init(_ settings: Settings, _ home: Home, _ logger: Logger) {
        hook = HandlerProgram.hook(settings, home)
        outboxHook = NoticeProgram.outboxHook(settings, home, logger)
        arbiter = settings.arbiter.map { path in
            OfferArbiter(
                path: path, scratchFolder: home.state + "/hooks", rules: settings.hookRules,
                forbiddenPlaces: home.handlerCatalog(settings).closed.paths, logger: logger)
        }
    }
}

/// The programs that are used now.
final class CurrentPrograms: Sendable {
    private let programs: Mutex<ReceiverPrograms>

    init(_ programs: ReceiverPrograms) {
        self.programs = Mutex(programs)
    }

    var current: ReceiverPrograms { programs.withLock { $0 } }

    func use(_ programs: ReceiverPrograms) { self.programs.withLock { $0 = programs } }
}
