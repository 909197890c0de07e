import ArgumentParser
import Control
import Inbox
import Journal
import Lines
import Sharing

/// Whether to wait for the handlers that read an item before it leaves the Inbox.
struct ReaderOptions: ParsableArguments {
    @Flag(name: .long, help: "Do not wait for a handler that still reads an item.")
    var now = false
}

/// The handlers that have an item and have not answered yet. The running receiver knows them; without a receiver there
/// are none.
enum InboxReaders {
    /// Waits up to five seconds until no handler reads an item, and keeps handlers from the item for half a minute.
    ///
    /// - Parameter now: does not wait.
    /// - Returns: the handler that still reads the item, escaped; nil if none does, or with `now`.
    static func reader(of number: ArrivalNumber, now: Bool) async throws(CommandError) -> String? {
        switch try await Daemon.askIfRunning(.release(arrival: number.value, now: now)) {
        case .done, nil: return nil
        case .beingRead(let handler, let seconds):
            return "\(TerminalText.escaped(handler, limit: 64)) is reading it (\(seconds) s)"
        case .refused(let reason): throw CommandError(.unexpected, TerminalText.escaped(reason, limit: 400))
        default: throw CommandError(.unexpected, "the receiver gave no answer")
        }
    }

    /// Keeps handlers from an item until it has left: a copy to another disk can take longer than half a minute.
    ///
    /// - Parameters:
    ///   - period: time between two renewals.
    ///   - renew: called on another thread than `leave`, which blocks.
    static func keepingAway<Result>(
        from number: ArrivalNumber, every period: Duration = .seconds(10),
        renew: @escaping @Sendable (ArrivalNumber) async -> Void = { number in
            _ = try? await Daemon.askIfRunning(.release(arrival: number.value, now: true))
        },
        _ leave: () throws(LeavingError) -> Result
    ) throws(LeavingError) -> Result {
        let renewal = Task {
            while true {
                try await Task.sleep(for: period)
                await renew(number)
            }
        }
        defer { renewal.cancel() }
        return try leave()
    }
}
