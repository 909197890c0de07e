package import DBusClient
import Foundation

/// The previewer of GNOME's file manager, by `org.gnome.NautilusPreviewer`.
package enum PreviewerWindow {
    package static let name = "org.gnome.NautilusPreviewer"

    private static let limits = BusLimits(messageBytes: 1 << 20)
    /// The previewer may have to start.
    private static let timeout: Duration = .seconds(10)

    /// Shows a file.
    /// - Parameter path: absolute.
    /// - Throws: `BusError`, also if the previewer is not installed.
    package static func show(
        _ path: String, on bus: BusAddress? = .session(ProcessInfo.processInfo.environment)
    ) async throws(BusError) {
        guard let bus else { throw .unreachable("no session bus is known") }
        let client = try await BusClient.connect(to: bus, limits: limits, timeout: timeout)
        let call = BusCall(
            to: name, path: "/org/gnome/NautilusPreviewer", interface: name, member: "ShowFile", startsService: true
        ) { arguments in
            arguments.string(URL(fileURLWithPath: path).absoluteString)
            // The window above which it stands: none.
            arguments.int32(0)
            // Whether a second call closes it.
            arguments.boolean(false)
        }
        try await client.call(call, timeout: timeout) { _ in () }
    }
}
