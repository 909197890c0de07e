import ArgumentParser
import Control
import Lines
import Operations
import Sharing

/// Asks the running receiver.
enum Daemon {
    /// - Parameter timeout: how long the receiver may take to answer.
    /// - Throws: `CommandError`, 69 when none is running.
    static func ask(
        _ request: ControlRequest, timeout: Duration = .seconds(10)
    ) async throws(CommandError) -> ControlReply {
        let receiver = try CommandContext.forgiving.waft.receiver
        do {
            return try await receiver.ask(request, timeout: timeout)
        } catch {
            throw CommandError(error)
        }
    }

    /// - Returns: nil if no receiver is running.
    /// - Throws: `CommandError`.
    static func askIfRunning(
        _ request: ControlRequest, timeout: Duration = .seconds(10)
    ) async throws(CommandError) -> ControlReply? {
        let receiver = try CommandContext.forgiving.waft.receiver
        do {
            return try await receiver.askIfRunning(request, timeout: timeout)
        } catch {
            throw CommandError(error)
        }
    }

    /// Tells the running receiver of a change. One that starts later reads everything at its start.
    /// - Returns: whether one is running.
    @discardableResult
    static func tell(_ request: ControlRequest) async -> Bool {
        do throws(CommandError) {
            return try await askIfRunning(request) != nil
        } catch {
            let reason = TerminalText.escaped(error.message, limit: 1_000)
            Console.shared.note("warning: the running receiver may not know of the change: \(reason)")
        }
        return true
    }

    /// Watches the running receiver, until it has gone.
    /// - Throws: `CommandError`, 69 when none is running; `CancellationError`.
    static func watch(_ see: @Sendable (ControlEvent) async -> Void) async throws {
        let receiver = try CommandContext.forgiving.waft.receiver
        do {
            try await receiver.watch(see)
        } catch let error as WaftError {
            throw CommandError(error)
        }
    }

    /// Shows the events of the running receiver until Ctrl-C, which is the normal end.
    ///
    /// - Throws: `CommandError`, 69 if no receiver is running, or if it ends.
    static func follow(_ see: @escaping @Sendable (ControlEvent) -> Void) async throws {
        let end = Cancellation()
        do {
            try await Interruption.watching(end, goodbye: .zero) {
                try await watch { event in see(event) }
            }
        } catch is CancellationError {
            return
        } catch  where end.isRequested {
            return
        }
        guard !end.isRequested else { return }
        throw CommandError(.notRunning, "the receiver ended, or its events were read too slowly")
    }
}
