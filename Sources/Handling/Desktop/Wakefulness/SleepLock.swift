import DBusClient
import SystemCalls

/// An inhibitor lock of logind: held as long as this object exists (systemd, "Inhibitor Locks").
final class SleepLock: Sendable {
    /// How long logind may take to answer.
    private static let timeout: Duration = .seconds(5)
    private static let limits = BusLimits(messageBytes: 64 << 10, descriptors: 1)

    private let descriptor: FileDescriptor

    private init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Requests a lock against `idle` and `sleep`. The call does not start logind.
    static func request(from bus: BusAddress) async throws(BusError) -> SleepLock {
        let client = try await BusClient.connect(to: bus, limits: limits, timeout: timeout)
        // org.freedesktop.login1(5), `Inhibit`: what, who, why, mode.
        let call = BusCall(
            to: "org.freedesktop.login1", path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager",
            member: "Inhibit"
        ) { arguments in
            for text in ["idle:sleep", "Waft", "Something is being sent or received", "block"] {
                arguments.string(text)
            }
        }
        return try await client.call(call, timeout: timeout) { arguments in
            guard let descriptor = arguments.descriptor() else { return nil }
            return SleepLock(descriptor)
        }
    }
}
