import Foundation

/// The display of the user.
enum Display {
    /// Whether a program can show a window.
    static func isThere(_ environment: [String: String] = ProcessInfo.processInfo.environment) -> Bool {
        ["WAYLAND_DISPLAY", "DISPLAY"].contains { environment[$0]?.isEmpty == false }
    }
}
