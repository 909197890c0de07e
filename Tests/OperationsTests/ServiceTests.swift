import Foundation
import Lines
import TestSupport
import Testing

@testable import Operations

@Suite("The units of the service")
struct ServiceUnitsTests {
    private let folder = TemporaryFolder()

    @Test("a user's has the programs, the home and the port; without a port there is no socket")
    func user() throws {
        let units = ServiceUnits(scope: .user, daemon: "/opt/my waft/100%/waftd", home: "/home/a\"b", port: 4_001)
        #expect(units.all.map(\.unit) == ["waftd.service", "waftd.socket"])
        let service = units.all[0].unitText
        #expect(service.contains("\nExecStart=\"/opt/my waft/100%%/waftd\"\n"))
        #expect(service.contains("\nEnvironment=\"WAFT_HOME=/home/a\\\"b\"\n"))
        #expect(service.contains("\nSockets=waftd.socket\n") && service.hasSuffix("\nAlso=waftd.socket\n"))
        #expect(!service.contains("User="))
        #expect(units.all[1].unitText.contains("\nListenStream=4001\n"))
        let alone = ServiceUnits(scope: .user, daemon: "/usr/bin/waftd", port: nil)
        #expect(alone.all.map(\.unit) == ["waftd.service"])
        #expect(!alone.all[0].unitText.contains("socket"))
        #expect(alone.all[0].unitText.contains("\nExecStart=/usr/bin/waftd\n"))
    }

    @Test("both kinds tell systemd of themselves, are watched, and are not started again after a wrong setting")
    func common() {
        for scope in [ServiceScope.user, .system] {
            let lines = ServiceUnits(scope: scope, daemon: "/usr/bin/waftd").all[0].unitText.split(separator: "\n")
            for line in [
                "Type=notify", "ExecReload=kill -HUP $MAINPID", "Restart=on-failure", "RestartSec=1",
                "RestartPreventExitStatus=64", "WatchdogSec=60", "TimeoutStopSec=10", "UMask=0077", "LimitCORE=0",
            ] {
                #expect(lines.contains(Substring(line)), "\(line)")
            }
        }
    }

    @Test("no unit starts anything when its program is gone")
    func condition() {
        for scope in [ServiceScope.user, .system] {
            for unit in ServiceUnits(scope: scope, daemon: "/opt/100%/my waftd").all {
                #expect(unit.unitText.contains("\nConditionFileIsExecutable=/opt/100%%/my waftd\n"), "\(unit)")
            }
        }
    }

    @Test("installed units are found where systemd looks first, and those of waft service install are none")
    func installed() throws {
        let own = folder / "own"
        let (first, second) = (folder / "first", folder / "second")
        for each in [own, first, second] {
            try FileManager.default.createDirectory(atPath: each, withIntermediateDirectories: true)
        }
        try "".write(toFile: own + "/waftd.service", atomically: false, encoding: .utf8)
        let search = ["/run/systemd/user", own, folder / "none", first, second]
        #expect(InstalledUnits.first(in: search, besides: own) == nil)
        try "".write(toFile: second + "/waftd.service", atomically: false, encoding: .utf8)
        try "".write(toFile: second + "/waftd.socket", atomically: false, encoding: .utf8)
        let paths = ["waftd.service", "waftd.socket"].map { "\(second)/\($0)" }
        #expect(InstalledUnits.first(in: search, besides: own)?.paths == paths)
        try "".write(toFile: first + "/waftd.service", atomically: false, encoding: .utf8)
        #expect(InstalledUnits.first(in: search, besides: own)?.paths == ["\(first)/waftd.service"])
    }

    @Test("a drop-in gives installed units the folders and the port of the user, and only what differs is written")
    func dropIns() throws {
        #expect(try ServiceUnits.dropIns(home: nil, port: 9_238).isEmpty)
        let both = try ServiceUnits.dropIns(home: "/my home", port: 4_001)
        #expect(both.map(\.unit) == ["waftd.service.d/waft.conf", "waftd.socket.d/waft.conf"])
        #expect(both.first?.unitText == "[Service]\nEnvironment=\"WAFT_HOME=/my home\"\n")
        #expect(both.last?.unitText == "[Socket]\nListenStream=\nListenStream=4001\n")
        #expect(throws: WaftError.self) { try ServiceUnits.dropIns(home: nil, port: nil) }
    }

    @Test("the folder of the user's units is empty after they were removed, but for what another hand has put there")
    func removal() throws {
        let units = UnitFolder(path: folder.path)
        for unit in try ServiceUnits.dropIns(home: "/home", port: 4_001) {
            try units.file(of: unit).write(unit.unitText)
        }
        let foreign = folder / "waftd.socket.d/mine.conf"
        try "[Socket]\n".write(toFile: foreign, atomically: false, encoding: .utf8)
        for file in units.dropIns { try file.remove() }
        let wants = folder / "default.target.wants"
        try FileManager.default.createDirectory(atPath: wants, withIntermediateDirectories: true)
        for name in ["waftd.service", "other.service"] {
            try FileManager.default.createSymbolicLink(atPath: "\(wants)/\(name)", withDestinationPath: "/nowhere")
        }
        units.removeDanglingLinks()
        #expect(try FileManager.default.contentsOfDirectory(atPath: wants) == ["other.service"])
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == ["default.target.wants", "waftd.socket.d"])
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
            #expect(throws: WaftError.self) { try file.requireOwn(orForced: false) }
            try file.requireOwn(orForced: true)
        }
        try FileManager.default.removeItem(atPath: file.path)
        // As systemctl mask makes it.
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "/dev/null")
        #expect(file.owner == .other)
    }

    @Test(
        "the state is one word, with the reason of a failure",
        arguments: [
            ("", "not installed", false), ("LoadState=not-found\nActiveState=inactive\n", "not installed", false),
            ("LoadState=loaded\nActiveState=active\nResult=success\n", "active", true),
            ("LoadState=loaded\nActiveState=reloading\n", "reloading", true),
            ("LoadState=loaded\nActiveState=failed\nResult=exit-code\n", "failed (exit-code)", false),
            ("LoadState=loaded\nActiveState=inactive\nResult=watchdog\n", "inactive (watchdog)", false),
        ])
    func state(text: String, state: String, isActive: Bool) {
        let line = ServiceLine(reading: text, .user, lingers: nil)
        #expect(line.state == state && line.isActive == isActive && line.isKnown == (state != "not installed"))
    }

    @Test("the line has the facts of systemd, and none that it leaves empty")
    func facts() {
        let text = """
            LoadState=loaded
            ActiveState=active
            UnitFileState=enabled
            FragmentPath=/usr/lib/waftd.service
            StatusText=receiving as a=b
            MainPID=7
            NRestarts=2
            """
        let line = ServiceLine(reading: text, .system, lingers: nil)
        #expect(line.system && line.startsByItself && line.path == "/usr/lib/waftd.service")
        #expect(line.units == ["/usr/lib/waftd.service"] && line.statusLine == "receiving as a=b")
        #expect(line.processID == 7 && line.restarts == 2)
        let empty = ServiceLine(reading: "FragmentPath=\nStatusText=\nMainPID=0\n", .user, lingers: true)
        #expect(empty.units == nil && empty.statusLine == nil && empty.processID == nil && empty.lingers == true)
        #expect(!line.json.contains("isActive") && !line.json.contains("\"path\""))
    }

    @Test("units are made for a folder of programs without a look at the user's settings")
    func print() throws {
        let units = try Service(system: true).units(programs: "/opt/bin")
        #expect(units.map(\.unit) == Service.units)
        #expect(units.allSatisfy { $0.unitText.contains("/opt/bin/waftd") })
    }

    @Test("without systemd nothing is written", .enabled(if: access("/run/systemd/system", F_OK) != 0))
    func noSystemd() async throws {
        let service = Service(system: false)
        let error = await #expect(throws: WaftError.self) { try await service.status() }
        #expect(error?.code == .notRunning && error?.reason == "no systemd runs for you here")
        let machine = await #expect(throws: WaftError.self) { try await Service(system: true).status() }
        #expect(machine?.reason == "systemd does not run here")
    }
}
