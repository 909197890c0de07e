import ArgumentParser
import Control
import Endpoints
import HandlerCatalog
import HookSandbox
import Lines
import Settings

/// The report of a verb. All lines are escaped.
struct HandlersReport {
    /// For standard output.
    var results: [String] = []
    /// For standard error.
    var notes: [String] = []
    var exit = WaftExit.done
    /// Whether handlers or the user's choices about them have changed. Then the running receiver reads them again.
    var isChange = false

    func show() throws {
        for line in results { Console.shared.result(line) }
        for line in notes { Console.shared.note(line) }
        if exit != .done { throw exit.code }
    }
}
