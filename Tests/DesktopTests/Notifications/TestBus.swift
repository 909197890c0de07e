import Foundation
import TestSupport

/// A session bus of a test's own, that starts no programs but those in its folder of services.
final class TestBus: Sendable {
    let folder: TemporaryFolder
    private let daemon: TestProcess

    /// - Parameter folder: where the socket `bus` lies.
    init(in folder: TemporaryFolder = TemporaryFolder()) async throws {
        self.folder = folder
        mkdir(folder / "services", 0o700)
        let configuration = folder.file(
            "bus.conf",
            """
            <busconfig>
              <type>session</type>
              <listen>unix:path=\(folder / "bus")</listen>
              <auth>EXTERNAL</auth>
              <servicedir>\(folder / "services")</servicedir>
              <policy context="default">
                <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
              </policy>
            </busconfig>
            """)
        daemon = try TestProcess(
            "/usr/bin/dbus-daemon", ["--config-file=\(configuration)", "--nofork", "--nopidfile", "--print-address"])
        try await daemon.lines.first { $0.hasPrefix("unix:") }
    }

    var environment: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder / "bus")"] }

    /// Its connections are cut.
    func kill() async {
        await daemon.kill()
        unlink(folder / "bus")
    }
}
