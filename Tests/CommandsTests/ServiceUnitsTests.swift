import Foundation
import TestSupport
import Testing

@testable import Commands

@Suite("The units of the service")
struct ServiceUnitsTests {
    private let folder = TemporaryFolder()

    @Test("a user's has the programs, the home and the port; without a port there is no socket")
    func user() throws {
        let units = ServiceUnits(scope: .user, daemon: "/opt/my waft/100%/waftd", home: "/home/a\"b", port: 4_001)
        #expect(units.all.map(\.name) == ["waftd.service", "waftd.socket"])
        let service = units.all[0].text
        #expect(service.contains("\nExecStart=\"/opt/my waft/100%%/waftd\"\n"))
        #expect(service.contains("\nEnvironment=\"WAFT_HOME=/home/a\\\"b\"\n"))
        #expect(service.contains("\nSockets=waftd.socket\n") && service.hasSuffix("\nAlso=waftd.socket\n"))
        #expect(!service.contains("User="))
        #expect(units.all[1].text.contains("\nListenStream=4001\n"))
        let alone = ServiceUnits(scope: .user, daemon: "/usr/bin/waftd", port: nil)
        #expect(alone.all.map(\.name) == ["waftd.service"])
        #expect(!alone.all[0].text.contains("socket"))
        #expect(alone.all[0].text.contains("\nExecStart=/usr/bin/waftd\n"))
    }

    @Test("both kinds tell systemd of themselves, are watched, and are not started again after a wrong setting")
    func common() {
        for scope in [ServiceScope.user, .system] {
            let lines = ServiceUnits(scope: scope, daemon: "/usr/bin/waftd").all[0].text.split(separator: "\n")
            for line in [
                "Type=notify", "ExecReload=kill -HUP $MAINPID", "Restart=on-failure", "RestartSec=1",
                "RestartPreventExitStatus=64", "WatchdogSec=60", "TimeoutStopSec=10", "UMask=0077", "LimitCORE=0",
            ] {
                #expect(lines.contains(Substring(line)), "\(line)")
            }
        }
    }

    @Test("a file that was written by another hand, or changed, is not touched without --force")
    func owner() throws {
        let file = UnitFile(path: folder / "waftd.service")
        #expect(file.owner == .nobody)
        try file.write("[Unit]\n")
        #expect(file.owner == .waft)
        try file.requireOwn(orForced: false)
        try file.write("[Unit]\nDescription=new\n")
        #expect(file.owner == .waft)
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        for other in [text + "Nice=5\n", "[Unit]\n", ""] {
            try other.write(toFile: file.path, atomically: false, encoding: .utf8)
            #expect(file.owner == .other)
            #expect(throws: CommandError.self) { try file.requireOwn(orForced: false) }
            try file.requireOwn(orForced: true)
        }
        try FileManager.default.removeItem(atPath: file.path)
        // As systemctl mask makes it.
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/null")
        #expect(file.owner == .other)
    }
}
