import DBusClient
import SystemCalls

/// An inhibitor lock of logind: held as long as this object exists (systemd, "Inhibitor Locks").
final class SleepLock: Sendable {
    /// Against which step of the machine, why, and how.
    struct Purpose: Sendable {
        /// The arguments of org.freedesktop.login1(5), `Inhibit`, without the name of the program.
        var what: String
        var why: String
        var mode: String

        /// Neither idleness nor a person's command makes the machine sleep. Each is asked for by itself: logind may grant
        /// the one and refuse the other, as to a user without an active local session.
        static let transfer = ["idle", "sleep"].map { what in
            Purpose(what: what, why: "Something is being sent or received", mode: "block")
        }
        /// The machine sleeps a moment later, at most logind's `InhibitDelayMaxSec`.
        static let protection = Purpose(what: "sleep", why: "Protected data is locked first", mode: "delay")
    }

    /// How long logind may take to answer.
    private static let timeout: Duration = .seconds(5)
    private static let limits = BusLimits(messageBytes: 64 << 10, descriptors: 1)

    private let descriptor: FileDescriptor

    private init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Requests a lock. The call does not start logind, and ends at once when the task is cancelled.
    static func request(_ purpose: Purpose, from bus: BusAddress) async throws(BusError) -> SleepLock {
        let client = try await BusClient.connect(to: bus, limits: limits, timeout: timeout)
        let call = BusCall(
            to: "org.freedesktop.login1", path: "/org/freedesktop/login1", interface: "org.freedesktop.login1.Manager",
            member: "Inhibit"
        ) { arguments in
            for text in [purpose.what, "Waft", purpose.why, purpose.mode] { arguments.string(text) }
        }
        return try await client.untilCancelled { () async throws(BusError) in
            try await client.call(call, timeout: timeout) { arguments in
                guard let descriptor = arguments.descriptor() else { return nil }
                return SleepLock(descriptor)
            }
        }
    }
}
