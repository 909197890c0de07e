package import Control
package import Lines
import NIOPosix
package import Settings

/// The running receiver of a home: one connection for all requests of a command, made when the first one is asked.
package struct ReceiverConnection: Sendable {
    /// The failure is a path that is too long.
    private let socket: Result<ControlSocket, ControlError>
    private let connection: Result<ControlConnection, ControlError>

    /// A receiver may start or stop between the two ways of a change.
    private static let tries = 3

    package init(_ home: Home) {
        socket = Result { () throws(ControlError) in try ControlSocket(folder: home.run) }
        connection = socket.map { ControlConnection($0, on: MultiThreadedEventLoopGroup.singleton) }
    }

    /// - Parameter timeout: how long the receiver may take to answer.
    /// - Throws: `WaftError`, `notRunning` when none is running.
    package func ask(
        _ request: ControlRequest, timeout: Duration = .seconds(10)
    ) async throws(WaftError) -> ControlReply {
        do throws(ControlError) {
            return try await connection.get().ask(request, timeout: timeout)
        } catch {
            throw Task.isCancelled ? .interrupted : WaftError(error)
        }
    }

    /// - Returns: nil if no receiver is running.
    /// - Throws: `WaftError`.
    package func askIfRunning(
        _ request: ControlRequest, timeout: Duration = .seconds(10)
    ) async throws(WaftError) -> ControlReply? {
        do throws(ControlError) {
            return try await connection.get().ask(request, timeout: timeout)
        } catch {
            guard !Task.isCancelled else { throw .interrupted }
            guard error.code == .notRunning else { throw WaftError(error) }
            return nil
        }
    }

    /// Sees the events of the receiver, until it ends the connection or is gone.
    /// - Parameter see: called for each event, in order; the next event waits for its return.
    /// - Throws: `WaftError`, `notRunning` when none is running; `CancellationError`.
    package func watch(_ see: @Sendable (ControlEvent) async -> Void) async throws {
        do {
            try await ControlClient.watch(at: socket.get(), on: MultiThreadedEventLoopGroup.singleton, see)
        } catch let error as ControlError {
            throw WaftError(error)
        }
    }

    /// Lets the running receiver do something; if none is running, it is done here. What fails here may be the work of a
    /// receiver that has started meanwhile, which is asked then.
    /// - Returns: whether a receiver is running.
    /// - Throws: `WaftError`: also what the receiver refuses, and that it knows no such thing.
    package func change(
        _ request: ControlRequest, orHere body: () throws(WaftError) -> Void
    ) async throws(WaftError) -> Bool {
        var failure = WaftError.noAnswer
        for _ in 0..<Self.tries {
            switch try await askIfRunning(request) {
            case .done: return true
            case .unknown(let reason): throw WaftError(.inputMissing, reason)
            case .refused(let reason): throw WaftError(.usage, reason)
            case nil: break
            default: throw .noAnswer
            }
            do throws(WaftError) {
                try body()
                return false
            } catch {
                failure = error
            }
        }
        throw failure
    }
}
