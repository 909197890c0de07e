package import DBusClient
import Foundation

/// Whether the user's session is locked, by logind's hint (org.freedesktop.login1(5), `LockedHint`).
///
/// Without a system bus, without logind, or without a session the answer is no.
package struct SessionLock: Sendable {
    private static let service = "org.freedesktop.login1"
    private static let interface = "org.freedesktop.login1.Session"
    private static let properties = "org.freedesktop.DBus.Properties"
    /// The caller's session; for a service, the user's graphical one.
    private static let session = "/org/freedesktop/login1/session/auto"
    private static let limits = BusLimits(messageBytes: 64 << 10)
    /// How long logind may take to answer. A notification waits for it.
    private static let timeout: Duration = .seconds(2)

    private let bus: BusAddress

    package init(bus: BusAddress = .system(ProcessInfo.processInfo.environment)) {
        self.bus = bus
    }

    package func isLocked() async -> Bool {
        do throws(BusError) {
            return try await Self.isLocked(try await connect())
        } catch {
            return false
        }
    }

    /// Waits until the session is unlocked, or the task is cancelled.
    /// - Returns: false if that cannot be known.
    package func unlocked() async -> Bool {
        do throws(BusError) {
            let client = try await connect()
            // The object that sends the signal has another path than the one that is asked.
            let match = BusMatch(
                from: Self.service, path: nil, interface: Self.properties, member: "PropertiesChanged")
            let changes = try await client.signals(match, timeout: Self.timeout, buffer: 1) { _ in true }
            if try await !Self.isLocked(client) { return true }
            for await _ in changes {
                if try await !Self.isLocked(client) { return true }
            }
            return false
        } catch {
            return false
        }
    }

    private func connect() async throws(BusError) -> BusClient {
        try await BusClient.connect(to: bus, limits: Self.limits, timeout: Self.timeout)
    }

    private static func isLocked(_ client: BusClient) async throws(BusError) -> Bool {
        let call = BusCall(to: service, path: session, interface: properties, member: "Get") { arguments in
            arguments.string(interface)
            arguments.string("LockedHint")
        }
        return try await client.call(call, timeout: timeout) { $0.variant { $0.boolean() } }
    }
}
