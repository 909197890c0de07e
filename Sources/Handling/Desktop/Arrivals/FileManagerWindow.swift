package import DBusClient
import Foundation

/// The desktop's file manager, by `org.freedesktop.FileManager1` (File Manager D-Bus Interface, freedesktop.org).
package enum FileManagerWindow {
    private static let limits = BusLimits(messageBytes: 1 << 20)
    /// The file manager may have to start.
    private static let timeout: Duration = .seconds(10)

    /// Shows files and folders in their folders, selected. Starts the file manager if it does not run.
    /// - Parameter paths: absolute.
    /// - Throws: `BusError`; `unreachable` if no session bus is known.
    package static func show(
        _ paths: [String], on bus: BusAddress? = .session(ProcessInfo.processInfo.environment)
    ) async throws(BusError) {
        guard let bus else { throw .unreachable("no session bus is known") }
        let client = try await BusClient.connect(to: bus, limits: limits, timeout: timeout)
        let addresses = paths.map { URL(fileURLWithPath: $0).absoluteString }
        let call = BusCall(
            to: "org.freedesktop.FileManager1", path: "/org/freedesktop/FileManager1",
            interface: "org.freedesktop.FileManager1", member: "ShowItems", startsService: true
        ) { arguments in
            arguments.array(of: "s") { array in
                for address in addresses { array.string(address) }
            }
            // The startup id, of which a program without a window has none.
            arguments.string("")
        }
        try await client.call(call, timeout: timeout) { _ in () }
    }
}
