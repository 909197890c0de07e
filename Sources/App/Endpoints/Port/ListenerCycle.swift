import Contacts
import Logging
import NIOPosix
import SecureTransport
import ServiceManager
import Sharing

/// The listener of a dialect that can be switched off: open while this machine is visible enough, and opened anew when the
/// dialect's settings change.
struct ListenerCycle: Sendable {
    let dialect: Dialect
    let sockets: PassedSockets
    let host: ReceivingHost
    let logger: Logger

    /// Runs until the task is cancelled. An error is reported, and ends nothing else.
    ///
    /// - Parameters:
    ///   - options: the present settings of the dialect; nil while it is not enabled.
    ///   - isVisible: whether the listener is open at a visibility.
    ///   - hidden: for people, why the listener is closed at any other.
    ///   - bind: opens the listener.
    ///   - serve: serves connections until the listener takes no more and the last one has ended.
    ///   - announce: tells others of the listener's port, until the task is cancelled.
    func run<Options: Equatable & Sendable>(
        _ options: @escaping @Sendable () -> Options?, isVisible: @escaping @Sendable (Visibility) -> Bool,
        hidden: String, bind: (Options) async throws -> SecureListener,
        serve: @escaping @Sendable (SecureListener) async throws -> Void,
        announce: @escaping @Sendable (_ port: Int) async -> Void
    ) async {
        // A connection on which a transfer was accepted outlives the visibility: nothing could resume the transfer.
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                let current = options()
                guard let current, isVisible(host.visibility.visibility) else {
                    host.report(EndpointStatus(current == nil ? "off: not enabled in config.yaml" : "off: \(hidden)"))
                    await sockets.turningAway(dialect) {
                        await host.visibility.wait { options() != current || current != nil && isVisible($0) }
                    }
                    continue
                }
                let isOver: @Sendable (Visibility) -> Bool = { !isVisible($0) || options() != current }
                do {
                    let listener = try await bind(current)
                    group.addTask { do { try await serve(listener) } catch { failed(error) } }
                    await host.visibility.run(until: isOver) { await announce(listener.port) }
                    await listener.stopAccepting()
                } catch {
                    failed(error)
                    await host.visibility.wait(until: isOver)
                }
            }
            group.cancelAll()
        }
    }

    func failed(_ error: any Error) {
        guard !(error is CancellationError) else { return }
        host.report(EndpointStatus("failed: \(error)"))
        logger.warning("not reachable by \(dialect.title)", metadata: ["reason": "\(error)"])
    }

    /// Binds the socket that the service manager has opened, or else the port, or else any.
    /// - Parameter identity: makes the identity when the first connection comes.
    func bind(
        _ port: Int, _ profile: TLSProfile, identity: @escaping @Sendable () throws -> Identity
    ) async throws -> SecureListener {
        try await bind(port) { SecureListener.Configuration(port: $0, profile: profile, makingIdentity: identity) }
    }

    /// The same, with a configuration for a port.
    func bind(
        _ port: Int, _ configuration: (_ port: Int) -> SecureListener.Configuration
    ) async throws -> SecureListener {
        func bind(_ port: Int, passed: Int32? = nil) async throws -> SecureListener {
            var configuration = configuration(port)
            configuration.passed = passed
            return try await SecureListener.bind(configuration, group: .singleton, logger: logger)
        }
        if let passed = sockets[dialect] { return try await bind(0, passed: passed) }
        do {
            return try await bind(port)
        } catch let error as ListenerError where error.code == .addressInUse {
            return try await bind(0)
        }
    }
}
