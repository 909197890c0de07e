package import ArgumentParser
import Executors
import Foundation
import Glibc
import Lines
import Logging
import Operations

/// `waftd`: the receiver as a daemon.
package struct WaftDaemonCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "waftd",
        abstract: "Receive in the background.",
        discussion: """
            Example: waftd --name kitchen

            Logs to standard error and ends on SIGTERM. A change of config.yaml counts at once, or after \
            SIGHUP. Offers are answered by: waft offers, waft accept N, waft decline N.
            """,
        version: Version.text
    )

    @OptionGroup var options: ReceiverOptions

    package init() {}

    package func run() async throws {
        let service = ServiceStart(environment: ProcessInfo.processInfo.environment) { error in
            Console.shared.note("warning: the service manager could not be told about this receiver: \(error)")
        }
        do {
            try await serve(service)
        } catch let failure as CommandError {
            service.show(failure.message)
            throw failure
        }
    }

    private func serve(_ service: ServiceStart) async throws {
        let context = try CommandContext(options.apply)
        let logger = context.logger("waftd")
        for warning in service.warnings { logger.warning("\(warning)") }
        let hangups = EndSignals.watched([SIGHUP])
        let rendering = ReceiverRendering(json: true)
        let json = options.json
        if !json { ProtectionSuggestion.sayOnce(context) }
        let receiver = context.waft.daemon(service, logger: logger) { news in
            if json { rendering.show(news) }
            ReceiverLog.write(news, contactCount: context.people.contactCount, to: logger)
        }
        let reloading = Task { for await _ in hangups { await receiver.reloadSettings() } }
        defer { reloading.cancel() }
        let signals = EndSignals.watched()
        let work = Task { try await receiver.run() }
        let watch = Task {
            for await _ in signals {
                // The end is then that of a kill, after which nothing is lost: the next start goes on from the disk, and
                // handlers end with this process.
                OwnReceiver.boundStop(Self.stopLimit) {
                    logger.warning("a handler or a peer did not end in time: this receiver ends without it")
                    CommandLineRun.end(WaftExit.done.rawValue)
                }
                work.cancel()
            }
        }
        defer { watch.cancel() }
        do {
            try await work.value
        } catch let failure as WaftError {
            throw CommandError(failure)
        } catch is CancellationError {
            // This is the normal end.
        }
    }

    /// Seconds from the signal to the end at the latest.
    private static let stopLimit: TimeInterval = 2
}
