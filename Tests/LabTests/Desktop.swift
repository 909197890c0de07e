import Foundation
import Subprocess
import Testing

/// An invisible desktop: a session bus, a display, and dunst as its notification server.
struct Desktop: Sendable {
    /// The environment of a program on this desktop, without the display.
    let environment: [String: String]
    /// Its display, such as `:1`.
    let display: String
    private let host: Host
    private let folder: String

    /// - Parameter folder: an existing one, of the desktop's own.
    static func with(in folder: String, _ body: @Sendable @escaping (Desktop) async throws -> Void) async throws {
        let host = Host(home: folder)
        let bus = folder + "/bus.conf"
        try """
        <busconfig>
          <type>session</type><listen>unix:path=\(folder)/bus</listen><auth>EXTERNAL</auth>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
          </policy>
        </busconfig>
        """.write(toFile: bus, atomically: false, encoding: .utf8)
        // Instead of the user with dunst's menu, the label in a file chooses the action.
        try writeScript("#!/bin/sh\nexec grep -F -m 1 \"#$(cat '\(folder)/choice') \"\n", to: folder + "/choose")
        let settings = "[global]\n  dmenu = \(folder)/choose\n  notification_limit = 20\n  format = \"%s\\n%b\"\n"
        try settings.write(toFile: folder + "/dunstrc", atomically: false, encoding: .utf8)
        let serving = ["--config-file=\(bus)", "--nofork", "--nopidfile", "--print-address"]
        try await host.withProgram("/usr/bin/dbus-daemon", serving, signal: .terminate) { daemon in
            try await daemon.transcript.says("unix:")
            let screen = ["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp"]
            try await host.withProgram("/usr/bin/Xvfb", screen, signal: .terminate) { display in
                let number = try await display.transcript.first("a display") { text in
                    text.firstMatch(of: /(?m)^(\d+)$/).map { String($0.output.1) }
                }
                var drawing = host
                drawing.environment = [
                    "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/bus", "DISPLAY": ":\(number)", "HOME": folder,
                    "XDG_CACHE_HOME": folder,
                ]
                let desktop = Desktop(
                    environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/bus"], display: ":\(number)",
                    host: drawing, folder: folder)
                try await drawing.withProgram("/usr/bin/dunst", ["-conf", folder + "/dunstrc"], signal: .terminate) {
                    _ in
                    // A notification that comes before the server is there is lost.
                    try await eventually { try await desktop.host.run("/usr/bin/dunstctl", ["count"]).exit == 0 }
                    try await body(desktop)
                }
            }
        }
    }

    /// Polls until the display has this number of notifications: dunst has no event for a drawn one.
    func displays(_ count: Int) async throws {
        try await eventually { try await control("count", "displayed") == "\(count)\n" }
    }

    /// Chooses an action of the top notification; without one it does nothing.
    func choose(_ label: String) async throws {
        try label.write(toFile: folder + "/choice", atomically: true, encoding: .utf8)
        _ = try await control("context")
    }

    /// Closes all notifications.
    /// - Returns: those that were shown so far, as JSON.
    func closeAll() async throws -> String {
        _ = try await control("close-all")
        try await displays(0)
        return try await control("history")
    }

    private func control(_ words: String...) async throws -> String {
        try await host.run("/usr/bin/dunstctl", words).output
    }
}
