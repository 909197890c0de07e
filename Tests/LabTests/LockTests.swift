import FakeLogind
import Foundation
import Subprocess
import TestSupport
import Testing

/// A real receiver that locks with the machine: a fake logind, and a real keyring.
@Suite("Waft locks with the machine", .serialized, .timeLimit(.minutes(2)))
struct LockTests {
    private static let delay = FakeLogind.Heard.inhibit(["sleep", "Waft", "Protected data is locked first", "delay"])

    /// A session bus with a keyring that is open.
    private func withKeyring(
        _ folder: String, _ body: @Sendable @escaping ([String: String]) async throws -> Void
    ) async throws {
        try FileManager.default.createDirectory(atPath: folder + "/run", withIntermediateDirectories: true)
        try """
        <busconfig>
          <type>session</type><listen>unix:path=\(folder)/bus</listen><auth>EXTERNAL</auth>
          <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy>
        </busconfig>
        """.write(toFile: folder + "/bus.conf", atomically: false, encoding: .utf8)
        try "correct horse".write(toFile: folder + "/password", atomically: false, encoding: .utf8)
        var host = Host(home: folder)
        let address = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/bus"]
        host.environment = address.merging(["HOME": folder, "XDG_RUNTIME_DIR": folder + "/run"]) { $1 }
        let keeper = host
        let serving = ["--config-file=\(folder)/bus.conf", "--nofork", "--nopidfile", "--print-address"]
        try await host.withProgram("/usr/bin/dbus-daemon", serving, signal: .terminate) { daemon in
            try await daemon.transcript.says("unix:")
            let keyring = "exec gnome-keyring-daemon --unlock --foreground --components=secrets <\"$0\""
            let words = ["-c", keyring, folder + "/password"]
            try await keeper.withProgram("/bin/sh", words, signal: .terminate) { _ in
                let question = [
                    "--print-reply", "--dest=org.freedesktop.DBus", "/", "org.freedesktop.DBus.NameHasOwner",
                    "string:org.freedesktop.secrets",
                ]
                try await eventually {
                    try await keeper.run("/usr/bin/dbus-send", question).output.contains("boolean true")
                }
                try await body(address)
            }
        }
    }

    /// A handler that writes each call and the state of the data into `record`.
    private func install(_ host: Host) throws {
        let bundle = host.home + "/handlers/lock.handler"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        try """
        <plist version="1.0"><dict>
        <key>CFBundleIdentifier</key><string>org.example.lock</string>
        <key>CFBundleExecutable</key><string>run</string>
        <key>CFBundleDocumentTypes</key><array><dict>
        <key>LSItemContentTypes</key><array><string>public.item</string></array></dict></array>
        <key>WaftLaunchCalls</key><array><string>protected-data-will-become-unavailable</string>
        <string>protected-data-did-become-available</string></array>
        </dict></plist>
        """.write(toFile: bundle + "/Info.plist", atomically: false, encoding: .utf8)
        try writeScript(
            "#!/bin/sh\necho \"$1 $WAFT_PROTECTED_DATA_AVAILABLE\" >>\"$WAFT_DATA/record\"\n"
                + "if [ -p \"$WAFT_DATA/gate\" ] && [ \"$1\" = protected-data-will-become-unavailable ]; then cat \"$WAFT_DATA/gate\"; fi\n",
            to: bundle + "/run")
    }

    private func record(_ host: Host) -> [String] {
        let path = host.home + "/handler-data/org.example.lock/record"
        return ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    @Test("the screen, sleep, the loss of logind and the end lock it; the keyring unlocks it with the screen")
    func reasons() async throws {
        try await withTemporaryFolder { folder in
            try await withKeyring(folder + "/desktop") { bus in
                let logind = try await FakeLogind(sessions: [FakeSession("1")])
                defer { logind.end() }
                var (kitchen, study) = (Host.loopback(folder + "/kitchen"), Host.loopback(folder + "/study"))
                kitchen.environment.merge(bus) { $1 }
                kitchen.environment["DBUS_SYSTEM_BUS_ADDRESS"] = logind.address
                study.environment["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=\(folder)/none"
                try install(kitchen)
                try "abc".write(toFile: folder + "/a.txt", atomically: false, encoding: .utf8)
                let (host, sender) = (kitchen, study)
                let daemon = ["--accept", "everyone"]
                let (log, _) = try await host.withReceiver(Programs.waftd, daemon) { running in
                    let made = try await host.run(arguments: ["protection", "set-up", "--keyring"])
                    #expect(made.exit == 0 && made.output.contains("GNOME does not close it"), "\(made)")
                    _ = try await running.log.first("unlocked")
                    try await logind.heard.first { $0 == Self.delay }

                    logind.change(FakeSession("1", isLocked: true))
                    _ = try await running.log.first("locked") { $0.reason == "screen" }
                    try await running.log.error(containing: "locked")
                    let sent = try await sender.run(arguments: ["send", folder + "/a.txt", "--to", running.address])
                    #expect(sent.exit == 0, "\(sent)")
                    #expect(try running.names() == ["a.txt.age"])
                    logind.send(.unlock(session: "1"))
                    logind.change(FakeSession("1"))
                    try await running.log.wait(for: 2, of: "unlocked")
                    _ = try await running.log.first("opened") { $0.handlerAnswer == "yes" }
                    #expect(
                        Array(record(host).suffix(3)) == [
                            "protected-data-will-become-unavailable 1", "protected-data-did-become-available 1",
                            "open-url 1",
                        ])

                    // The screen is unlocked again while a handler still holds up the lock.
                    let gate = host.home + "/handler-data/org.example.lock/gate"
                    #expect(mkfifo(gate, 0o600) == 0)
                    logind.change(FakeSession("1", isLocked: true))
                    try await running.log.wait(for: 2, of: "locking")
                    let reads = logind.heard.all.count { $0 == .read("1") }
                    logind.change(FakeSession("1"))
                    try await eventually { logind.heard.all.count { $0 == .read("1") } > reads }
                    close(open(gate, O_WRONLY))
                    try await running.log.wait(for: 3, of: "unlocked")
                    #expect(unlink(gate) == 0)

                    // Asked for by the person: only the person unlocks it.
                    let locked = try await host.run(arguments: ["lock", "--json"])
                    #expect(locked.events.first?.reason == "command", "\(locked)")
                    #expect(try await host.run(arguments: ["unlock"]).output == "unlocked\n")

                    logind.send(.sleep(true))
                    _ = try await running.log.first("locked") { $0.reason == "sleep" }
                    logind.send(.sleep(false))
                    #expect(try await host.run(arguments: ["unlock"]).exit == 0)
                    logind.leave()
                    _ = try await running.log.first("locked") { $0.reason == "logind" }
                    logind.comeBack()
                    try await running.log.wait(for: 6, of: "unlocked")
                    return running.log
                }
                #expect(await log.events.last { $0.event == "locked" }?.reason == "stopping")
                // A receiver that starts looks the keys up.
                try await host.withReceiver(Programs.waftd, daemon) { running in
                    _ = try await running.log.first("unlocked")
                    let export = try await host.run(arguments: ["protection", "export"])
                    #expect(export.output.contains("secret-tool lookup xdg:schema org.waft.Protection | age -d -i -"))
                    for words in [["protection", "passphrase"], ["protection", "set-up", "--keyring"]] {
                        #expect(try await host.run(arguments: words).exit == 64)
                    }
                    let rotated = try await host.run(arguments: ["protection", "rotate"])
                    #expect(rotated.exit == 0, "\(rotated)")
                }
            }
        }
    }
}
