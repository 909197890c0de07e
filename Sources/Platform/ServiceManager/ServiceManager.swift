import Glibc
package import SystemCalls

/// The service manager that has started this process and waits for its notices, such as systemd.
///
/// A notice that cannot be sent is reported once and changes nothing: the service works without a manager as well.
package final class ServiceManager: Sendable {
    /// How often the manager wants to hear that the service works; nil if it does not watch. Half of `WATCHDOG_USEC`,
    /// since a manager ends a service that was silent for the whole of it.
    package let watchdogInterval: Duration?
    private let socket: NotifySocket
    private let failed: @Sendable (SystemError) -> Void

    /// - Parameters:
    ///   - environment: of the process, with `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`.
    ///   - process: the id of this process.
    ///   - failed: called for each notice that could not be sent, on the thread of the call.
    /// - Returns: nil if no manager waits for notices.
    package init?(
        environment: [String: String], process: Int32 = getpid(),
        failed: @escaping @Sendable (SystemError) -> Void = { _ in }
    ) {
        guard let socket = environment["NOTIFY_SOCKET"].flatMap(NotifySocket.init) else { return nil }
        self.socket = socket
        self.failed = failed
        let watched = environment["WATCHDOG_PID"].map { $0 == String(process) } ?? true
        let time = environment["WATCHDOG_USEC"].flatMap(Int64.init).flatMap { $0 > 1 && watched ? $0 : nil }
        watchdogInterval = time.map { .microseconds($0 / 2) }
    }

    /// The service can be used.
    /// - Parameter status: one line for people.
    package func ready(_ status: String) { send("READY=1", "STATUS=" + status) }

    /// The state of the service, for people: one line. At most a few a minute; see `PacedStatus`.
    package func show(_ status: String) { send("STATUS=" + status) }

    /// The service begins to read its settings again. Call `ready` afterwards.
    package func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1", "MONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000)")
    }

    /// The service has begun to end.
    package func stopping() { send("STOPPING=1") }

    /// The service works; see `Watchdog`.
    package func alive() { send("WATCHDOG=1") }

    private func send(_ fields: String...) {
        do { try socket.send(fields) } catch { failed(error) }
    }
}
