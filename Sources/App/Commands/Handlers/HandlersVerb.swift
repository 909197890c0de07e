import ArgumentParser
import Control
import Desktop
import Endpoints
import Foundation
import HandlerCatalog
import HookSandbox
import Settings

/// A verb of `waft handlers`. It returns a report, and does not print it.
protocol HandlersVerb: AsyncParsableCommand {
    /// Whether it only reads. A mistake in the settings is a warning then.
    var isReading: Bool { get }

    /// Asks a person for a secret, before the report.
    mutating func prepare(on place: HandlersPlace) async throws(CommandError)
    func report(on place: HandlersPlace) throws(CommandError) -> HandlersReport
}

extension HandlersVerb {
    var isReading: Bool { false }

    mutating func prepare(on place: HandlersPlace) async throws(CommandError) {}

    mutating func run() async throws {
        let place = HandlersPlace(try CommandContext(isForgiving: isReading))
        try await prepare(on: place)
        let report = try report(on: place)
        if report.isChange {
            // The receiver uses the change before the command reports it.
            await Daemon.tell(.refreshHandlers)
            let schemes = place.catalog.load().openedSchemes.map(\.text)
            // Without a receiver. An error is shown by `waft desktop status`.
            _ = try? await SchemeEntryFile()?.refresh(
                schemes: schemes, home: Home.root(ProcessInfo.processInfo.environment))
        }
        try report.show()
    }
}
