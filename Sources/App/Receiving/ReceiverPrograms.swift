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

    /// - Throws: `ReceiverError` with the place of the setting, for a program that cannot be run.
    init(_ settings: Settings, _ home: Home, _ logger: Logger) throws(ReceiverError) {
        do throws(HandlerProgram.UnfitError) {
            hook = try HandlerProgram.hook(settings, home)
            outboxHook = try NoticeProgram.outboxHook(settings, home, logger)
        } catch {
            throw ReceiverError(.setting, error.description)
        }
        do {
            arbiter = try settings.arbiter.map { path in
                try OfferArbiter(
                    path: path, scratchFolder: home.state + "/hooks", rules: settings.hookRules,
                    forbiddenPlaces: home.handlerCatalog(settings).closed.paths, logger: logger)
            }
        } catch {
            throw ReceiverError(.setting, settings.line(about: "arbiter", "\(error)"))
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
