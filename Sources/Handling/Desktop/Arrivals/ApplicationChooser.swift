package import DBusClient
import Foundation
import Glibc
import SystemCalls

/// The desktop's dialog that lets the user choose an application, by the portal `org.freedesktop.portal.OpenURI`
/// (XDG Desktop Portal, version 1 of that interface).
package enum ApplicationChooser {
    private static let portal = "org.freedesktop.portal.Desktop"
    private static let limits = BusLimits(messageBytes: 1 << 20)
    /// How long the bus may take. A notification waits for it.
    private static let timeout: Duration = .seconds(2)
    /// The portal may have to start.
    private static let startTimeout: Duration = .seconds(10)
    /// Names of services that are read.
    private static let maximumNames = 4_096

    /// The session bus of this process.
    package static var bus: BusAddress? { .session(ProcessInfo.processInfo.environment) }

    /// Whether the portal runs, or can be started.
    package static func isThere(on bus: BusAddress? = bus) async -> Bool {
        guard let bus else { return false }
        do throws(BusError) {
            let client = try await BusClient.connect(to: bus, limits: limits, timeout: timeout)
            for list in ["ListNames", "ListActivatableNames"] {
                let call = BusCall(to: BusName.bus, path: BusName.busPath, interface: BusName.bus, member: list)
                let names = try await client.call(call, timeout: timeout) { $0.strings(most: maximumNames) }
                if names.contains(portal) { return true }
            }
            return false
        } catch {
            return false
        }
    }

    /// Lets the user choose an application for a file, which it can read but not write.
    /// - Parameter path: absolute, of a regular file; a link is not followed.
    /// - Throws: `SystemError` if the file cannot be opened, `BusError` if the portal does not answer.
    package static func open(_ path: String, on bus: BusAddress? = bus) async throws {
        guard let bus else { throw BusError.unreachable("no session bus is known") }
        // Non-blocking: opening a pipe would wait for its other end.
        let file = try FileDescriptor.opening(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        var status = stat()
        try systemCall { fstat(file.raw, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError(EINVAL) }
        let client = try await BusClient.connect(to: bus, limits: limits, timeout: timeout)
        let raw = file.raw
        let call = BusCall(
            to: portal, path: "/org/freedesktop/portal/desktop", interface: "org.freedesktop.portal.OpenURI",
            member: "OpenFile", startsService: true
        ) { arguments in
            // The parent window, of which a program without a window has none.
            arguments.string("")
            arguments.descriptor(raw)
            arguments.array(of: "{sv}") { options in
                options.entry("ask", "b") { $0.boolean(true) }
            }
        }
        // The answer is the request's object; the user's choice is not waited for.
        _ = try await client.call(call, timeout: startTimeout) { $0.objectPath() }
        // Sent by now.
        withExtendedLifetime(file) {}
    }
}
