import SecureTransport
import ServiceManager
import Sharing

extension PassedSockets {
    /// The socket for the listener of a dialect; its name is that of the dialect.
    subscript(dialect: Dialect) -> Int32? { self[dialect.name] }

    /// Runs `body`. Connections to the socket of a dialect are closed meanwhile: the service manager keeps it open.
    func turningAway(_ dialect: Dialect, while body: @Sendable () async -> Void) async {
        guard let passed = self[dialect] else { return await body() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await ClosedSocket.turnAway(passed) }
            await body()
            group.cancelAll()
        }
    }
}
