import ArgumentParser
import Control
import Endpoints
import HandlerCatalog
import HookSandbox
import Settings

/// A verb of `waft handlers`. It returns a report, and does not print it.
protocol HandlersVerb: AsyncParsableCommand {
    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport
}

extension HandlersVerb {
    mutating func run() async throws {
        let report = try report(on: HandlersPlace(try CommandContext()))
        // The receiver uses the change before the command reports it.
        if report.isChange { await Daemon.tell(.refreshHandlers) }
        try report.show()
    }
}
