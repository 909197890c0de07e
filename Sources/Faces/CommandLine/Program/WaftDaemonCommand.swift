package import ArgumentParser
import Contacts
import Executors
import Foundation
import Glibc
import Lines
import Logging
import Operations
import Receiving
import ServiceLifecycle
import ServiceManager

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
        let environment = ProcessInfo.processInfo.environment
        let sockets = PassedSockets(environment: environment, expected: Receiver.passedSockets)
        let manager = ServiceManager(environment: environment) { error in
            Console.shared.note("warning: the service manager could not be told about this receiver: \(error)")
        }
        do {
            try await serve(sockets, manager)
        } catch let failure as CommandError {
            manager?.show(failure.message)
            throw failure
        }
    }

    private func serve(_ sockets: PassedSockets, _ manager: ServiceManager?) async throws {
        let context = try CommandContext(options.apply)
        let logger = context.logger("waftd")
        for warning in sockets.warnings { logger.warning("\(warning)") }
        let hangups = EndSignals.watched([SIGHUP])
        let rendering = ReceiverRendering(json: true, people: context.people)
        let json = options.json
        if !json { ProtectionSuggestion.sayOnce(context) }
        let receiver = context.waft.makeReceiver(sockets: sockets, manager: manager, logger: logger) { event in
            if json { rendering.show(event) }
            ReceiverLog.write(event, people: context.people, to: logger)
        }
        let reloading = Task { for await _ in hangups { await receiver.reloadSettings() } }
        defer { reloading.cancel() }
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: receiver, successTerminationBehavior: .gracefullyShutdownGroup)],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = .milliseconds(1_500)
        do {
            let group = ServiceGroup(configuration: configuration)
            let signals = EndSignals.watched()
            let watch = Task {
                for await _ in signals {
                    Self.boundStop(logger)
                    await group.triggerGracefulShutdown()
                }
            }
            defer { watch.cancel() }
            try await group.run()
        } catch let failure as ReceiverError {
            throw CommandError(WaftError(failure))
        } catch is CancellationError {
            // This is the normal end.
        }
    }

    /// Bounds the time to stop: neither a peer nor a handler can extend it. The end is then that of a kill, after which
    /// nothing is lost: the next start goes on from the disk, and handlers end with this process.
    private static func boundStop(_ logger: Logger) {
        // A thread of its own: from here on the end comes, even if all others are busy.
        _ = BackgroundThread.start("waft-stop") {
            Thread.sleep(forTimeInterval: stopLimit)
            logger.warning("a handler or a peer did not end in time: this receiver ends without it")
            CommandLineRun.end(WaftExit.done.rawValue)
        }
    }

    /// Seconds from the signal to the end at the latest.
    private static let stopLimit: TimeInterval = 2
}
