package import Lines
package import NIOCore

extension ControlClient {
    /// Watches the events of a receiver, until the receiver ends the connection or is gone.
    ///
    /// - Parameters:
    ///   - timeout: how long the first reply may take.
    ///   - see: called for each event, in order; the next event waits for its return.
    /// - Throws: `ControlError`, `notRunning` if no receiver listens, `refused` if it refuses; `CancellationError`.
    package static func watch(
        at socket: ControlSocket,
        on group: any EventLoopGroup,
        timeout: Duration = .seconds(10),
        _ see: @Sendable (ControlEvent) async -> Void
    ) async throws {
        guard let channel = await connect(socket, on: group) else { throw ControlError.notRunning(socket.path) }
        let timer = Task {
            try await Task.sleep(for: timeout)
            channel.channel.close(promise: nil)
        }
        defer { timer.cancel() }
        do {
            try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(await opening(with: .watch, at: socket))
                var lines = inbound.makeAsyncIterator()
                switch try reply(in: try await lines.next()) {
                case .watching: timer.cancel()
                case .refused(let reason): throw ControlError.refused(reason)
                default: throw ControlError.broken("the receiver does not show what happens")
                }
                while let line = try await lines.next() {
                    switch ControlCoding.read(ControlEvent.self, in: line) {
                    case .message(let event): await see(event)
                    // Something newer than this command.
                    case .unknown: continue
                    case .otherVersion, .nonsense:
                        throw ControlError.broken(
                            "the receiver's events cannot be understood; are both of the same version?")
                    }
                }
            }
        } catch let error as ControlError {
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch  where timer.isCancelled {
            // It had begun: the receiver broke off instead of closing.
        } catch {
            throw ControlError.broken("the receiver does not answer on its control socket")
        }
        try Task.checkCancellation()
    }
}
