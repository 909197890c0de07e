import Foundation

/// The desktop of this process.
package enum DesktopSession {
    /// Whether there is a display, on which windows can be shown.
    package static func hasDisplay(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> Bool {
        ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
    }
}
