import CLinuxShims
import Foundation
package import Logging
package import Sharing
import Subprocess
import Synchronization
import SystemPackage

/// The one hook of the configuration: an executable that is told of each arrival, as the hook contract says.
package struct Hook: Sendable {
    /// What is wrong with the file that is to be the hook.
    package struct Unfit: Error, CustomStringConvertible {
        package let description: String
    }

    /// Absolute path of the executable.
    package let path: String
    private let timeLimit: Duration
    private let grace: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - path: of the executable; a relative one is taken from the working directory.
    ///   - timeLimit: after which it is ended, with everything it has started.
    ///   - grace: how long it then has to leave by itself.
    /// - Throws: `Unfit` when there is no executable regular file at the path.
    package init(path: String, timeLimit: Duration, grace: Duration = .seconds(5), logger: Logger) throws(Unfit) {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: absolute, isDirectory: &isFolder) else {
            throw Unfit(description: "the hook \(absolute) does not exist")
        }
        guard !isFolder.boolValue, FileManager.default.isExecutableFile(atPath: absolute) else {
            throw Unfit(description: "the hook \(absolute) is not an executable file; chmod +x may be missing")
        }
        self.path = absolute
        self.timeLimit = timeLimit
        self.grace = grace
        self.logger = logger
    }

    /// Starts the hook for one arrival and waits for its answer.
    package func open(_ arrival: Arrival, attempt: Int = 1) async -> HandlerAnswer {
        let call = HookCall(arrival, attempt: attempt)
        do {
            let status = try await run(call)
            let answer = Self.answer(to: status)
            logger.info("hook answered", metadata: ["file": "\(arrival.stored.path)", "answer": "\(status)"])
            return answer
        } catch {
            logger.error("the hook could not be run", metadata: ["hook": "\(path)", "error": "\(error)"])
            return HandlerAnswer(.failed)
        }
    }

    private func run(_ call: HookCall) async throws -> TerminationStatus {
        // A file in memory, not a pipe: a hook that never reads its input must not hold anybody up.
        let input = try call.document()
        var options = PlatformOptions()
        options.processGroupID = 0
        // What the hook has started goes with it.
        options.teardownSequence = [
            .send(signal: .terminate, toProcessGroup: true, allowedDurationToNextStep: grace),
            .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .seconds(1)),
        ]
        let leader = Leader()
        let configuration = Configuration(
            executable: .path(FilePath(path)),
            arguments: ["open-url", call.url],
            environment: .inherit.updating(call.environment),
            workingDirectory: FilePath(path).removingLastComponent(),
            platformOptions: options
        )
        return try await withTimeLimit {
            // The teardown is over when the hook itself has left, which those it has started need not have done.
            defer { if Task.isCancelled { leader.killGroup() } }
            return try await Subprocess.run(
                configuration,
                input: .fileDescriptor(input, closeAfterSpawningProcess: true),
                // What a hook prints is for the user's eyes or the log; standard output may be a stream of JSON events.
                output: .fileDescriptor(.standardError, closeAfterSpawningProcess: false),
                error: .fileDescriptor(.standardError, closeAfterSpawningProcess: false)
            ) { execution in
                leader.isKnown(execution.processIdentifier.value)
            }.terminationStatus
        }
    }

    /// The process that leads the hook's group, once it has been started.
    private final class Leader: Sendable {
        private let process = Atomic<pid_t>(0)

        func isKnown(_ process: pid_t) {
            self.process.store(process, ordering: .releasing)
        }

        /// While anybody is in the group its number belongs to nobody else; when nobody is, there is nothing to kill.
        func killGroup() {
            let process = process.load(ordering: .acquiring)
            if process > 0 { kill(-process, SIGKILL) }
        }
    }

    /// Cancels `operation`, which ends the hook's process group, when the time is up.
    private func withTimeLimit(
        _ operation: @escaping @Sendable () async throws -> TerminationStatus
    ) async throws -> TerminationStatus {
        let (timeLimit, logger, path) = (self.timeLimit, self.logger, self.path)
        return try await withThrowingTaskGroup(of: TerminationStatus?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try? await Task.sleep(for: timeLimit)
                if !Task.isCancelled {
                    logger.warning("the hook is out of time", metadata: ["hook": "\(path)", "limit": "\(timeLimit)"])
                }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
                group.cancelAll()
            }
            throw CancellationError()
        }
    }

    private static func answer(to status: TerminationStatus) -> HandlerAnswer {
        switch status {
        case .exited(0): HandlerAnswer(.yes, exitCode: 0)
        case .exited(1): HandlerAnswer(.no, exitCode: 1)
        case .exited(let code): HandlerAnswer(.failed, exitCode: Int(code))
        default: HandlerAnswer(.failed)
        }
    }
}
