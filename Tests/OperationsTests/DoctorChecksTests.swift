import Contacts
import Control
import Discovery
import Endpoints
import Foundation
import HandlerCatalog
import HookSandbox
import Inbox
import Lines
import Logging
import Protection
import Settings
import Sharing
import TestSupport
import Testing

@testable import Operations

@Suite("The checks of the doctor")
struct DoctorChecksTests {
    private let scene = DoctorScene(environment: [:], settings: Settings(hostName: "study"))

    @Test("a kernel without Landlock is a warning, and a problem where handlers require a sandbox")
    func landlock() async {
        let check = SandboxCheck { .init(landlock: .unavailable(reason: "built without it"), filter: .asking) }
        let findings = await check.findings(scene)
        #expect(findings.map(\.result) == [.warning])
        #expect(findings.first?.reason.contains("no Landlock (built without it)") == true)
        var strict = scene
        strict.settings.requiresSandbox = true
        #expect(await check.findings(strict).map(\.result) == [.problem])
        let whole = SandboxCheck { .init(landlock: .abi(6), filter: .asking) }
        #expect(await whole.findings(strict).map(\.result) == [.ok])
    }

    @Test("a refusal of logind to keep the machine awake is a warning: the receiver's, and without one its answer here")
    func awake() async throws {
        let check = AwakeCheck { nil }
        #expect(await check.findings(scene).map(\.result) == [.ok])
        var running = scene
        var status = StatusLine(
            name: "study", id: "", port: 1, inbox: "/", accept: "ask", discovery: "off", free: nil,
            waitingOffers: 0, activeTransfers: 0, processID: 1, hook: nil)
        status.wakeFault = "logind refuses it"
        running.receiver = .running(status)
        let findings = await check.findings(running)
        #expect(findings.map(\.result) == [.warning] && findings.first?.reason == "logind refuses it")
        running.settings.inhibitsSleep = false
        #expect(await check.findings(running).map(\.result) == [.ok])
    }

    @Test("without a radio backend iPhones are a remark; a port that is taken, and what a backend misses, are warnings")
    func radio() async throws {
        var scene = scene
        scene.settings.airdrop.radio = .off
        #expect(await RadioCheck().findings(scene).isEmpty)
        scene.settings.airdrop.radio = .helper("/nowhere/helper")
        let missing = await RadioCheck().findings(scene)
        #expect(missing.map(\.result) == [.warning] && missing.first?.reason.contains("/nowhere/helper") == true)
        let other = PortOwners.Owner(user: 0, process: 7, program: "omdrop")
        let own = PortOwners.Owner(user: 0, process: 8, program: "waftd")
        #expect(RadioCheck.port([own], own: 8).isEmpty)
        #expect(
            RadioCheck.port([other, own], own: 8).first?.reason.hasSuffix("is taken by omdrop (process 7)") == true)
        // The receiver of another home.
        let foreign = RadioCheck.port([own], own: nil)
        #expect(foreign.first?.reason.hasSuffix("is taken by waftd (process 8)") == true)
        var told = StatusLine.Radio()
        (told.fault, told.hint, told.radioFault) = ("their port is not open here", "see the doctor", "portTaken")
        #expect(RadioCheck.told(told, foreign, besides: []) == foreign)
        #expect(RadioCheck.told(told, [], besides: []).map(\.hint) == [nil])
        told.radioFault = "notNow"
        let fault = DoctorFinding.warning("their port is not open here", hint: "see the doctor")
        #expect(RadioCheck.told(told, foreign, besides: []) == [fault] + foreign)
        #expect(RadioCheck.told(told, foreign, besides: [fault]) == foreign)
        let silent = try RadioStatus(Array(#"{"visible":true,"remaining":9}"#.utf8))
        #expect(RadioCheck.window(silent, heard: 0, answered: 0).result == .warning)
        let heard = RadioCheck.window(silent, heard: 2, answered: 1)
        #expect(heard.result == .ok && heard.reason == "the window is open, 9 s left; 2 peers heard, 1 answered")
    }

    @Test(
        "a radio backend that answers one question and not another one is told with both",
        .enabled(if: geteuid() == 0, "NOT RUN: files of root need root; run Scripts/test as root"))
    func halfRadio() async throws {
        let folder = TemporaryFolder()
        let probe = #"{"backend":"stub","version":"1.0","contract":"0.7.0","hardware":true,"missing":[]}"#
        func reasons(_ answers: String) async throws -> [String] {
            let script = "#!/bin/sh\ncase $1 in\nprobe) echo '\(probe)' ;;\n\(answers)\nesac\n"
            let made = FileManager.default.createFile(
                atPath: folder / "helper", contents: Data(script.utf8), attributes: [.posixPermissions: 0o755])
            try #require(made)
            return await RadioCheck().findings(scene, try RadioBackend(folder / "helper"), isUp: true).map(\.reason)
        }
        #expect(
            try await reasons("status) exit 1 ;;") == [
                "the radio backend is stub 1.0", #"the radio backend failed at "status""#,
            ])
        #expect(
            try await reasons(#"status) echo '{"visible":true,"remaining":9}' ;; peers) exit 1 ;;"#) == [
                "the radio backend is stub 1.0", "the window is open, 9 s left",
                #"the radio backend failed at "peers""#,
            ])
    }

    @Test("data protection that is not set up is a remark, and is suggested at a terminal once")
    func protection() async throws {
        let folder = TemporaryFolder()
        let home = try Home(environment: ["WAFT_HOME": folder / "home"])
        #expect(ProtectionSuggestion.isNew(home, .none))
        #expect(!ProtectionSuggestion.isNew(home, .none))
        var scene = scene
        (scene.home, scene.isTrusted) = (home, true)
        let open = await ProtectionCheck().findings(scene)
        #expect(open.map(\.result) == [.ok] && open.first?.reason.contains("waft protection set-up") == true)
        let sealed = try Home(environment: ["WAFT_HOME": folder / "sealed"])
        try sealed.makeFolders()
        try ProtectionFolder(path: sealed.protection).setUp(keeping: try VaultIdentities.generate(), by: .keyring)
        #expect(!ProtectionSuggestion.isNew(sealed, .none))
        scene.home = sealed
        #expect(await ProtectionCheck().findings(scene) == [.ok("set up")])
    }

    @Test("a script that names a variable of the user that it does not get is named")
    func variables() {
        let folder = TemporaryFolder()
        let environment = [
            "TOKEN": "x", "PWD": "/", "SET": "y", "PATH": "/bin", "DISPLAY": ":0", "KEY": "z", "TO": "q",
        ]
        let script = folder.program(
            "script", "#!/bin/sh\nSET=1\necho $TOKEN ${PWD} \"$SET\" $PATH ${DISPLAY:-} $KEYS\n")
        func missing(_ path: String, _ rules: LaunchRules = LaunchRules()) -> [String] {
            ScriptVariables.missing(in: path, ProgramVariables(rules), of: environment)
        }
        #expect(missing(script) == ["DISPLAY", "TOKEN"])
        #expect(missing(script, LaunchRules(sandbox: .none)) == ["TOKEN"])
        #expect(missing(script, LaunchRules(environment: ["TOKEN", "DISPLAY"])) == [])
        #expect(missing(folder.program("python", "#!/usr/bin/env python3\nos.environ['KEY']\n")) == ["KEY"])
        #expect(missing(folder.program("binary", "\u{7F}ELF $TOKEN")) == [])
    }

    @Test("a clock before the build of the program, or before the files of the state, is a problem")
    func clock() {
        let day = 86_400
        let now = 20_000 * day
        #expect(ClockCheck.finding(now: now, built: now - day, written: now - 1).result == .ok)
        #expect(ClockCheck.finding(now: now, built: now + 60, written: now + 60).result == .ok)
        #expect(ClockCheck.finding(now: now, built: now + 2 * day, written: nil).reason.contains("was built after"))
        let written = ClockCheck.finding(now: now, built: nil, written: now + 3_600)
        #expect(written.result == .problem && written.reason.contains("has written files after"))
    }

    @Test("a disk of the Inbox that lacks abilities is named, with the consequences, in one line")
    func abilities() {
        var abilities = DiskAbilities()
        #expect(InboxCheck.finding(abilities, inbox: "/i") == .ok("/i"))
        abilities.keepsModes = false
        #expect(InboxCheck.finding(abilities, inbox: "/i") == .ok("/i; its disk keeps no executable bits"))
        (abilities.hasLinks, abilities.refusedCharacters) = (false, ":?")
        let finding = InboxCheck.finding(abilities, inbox: "/i")
        #expect(finding.result == .warning)
        #expect(
            finding.reason
                == "the disk of /i has no symbolic links, takes no names with : ?: what needs that is refused; "
                + "it keeps no executable bits")
    }

    @Test("a disk without its reserve is a problem, and one with little more is a warning")
    func disk() {
        func result(_ free: UInt64, entries: UInt64? = 9) -> CheckLine.Result {
            DiskCheck.finding(
                .init(size: 100 << 30, free: free, freeEntries: entries), reserve: .bytes(1 << 30), of: "the disk"
            ).result
        }
        #expect(result(1 << 30) == .problem)
        #expect(result((1 << 30) + (1 << 20)) == .warning)
        #expect(result(50 << 30) == .ok)
        #expect(result(50 << 30, entries: nil) == .ok)
        #expect(result(50 << 30, entries: 0) == .problem)
    }

    @Test("WAFT_HOME that is relative, a file, or another user's is a problem")
    func home() throws {
        let folder = TemporaryFolder()
        let file = folder / "file"
        try "x".write(toFile: file, atomically: false, encoding: .utf8)
        let own = geteuid()
        #expect(HomeCheck.fault(ofRoot: "here", user: own)?.reason.contains("working directory") == true)
        #expect(HomeCheck.fault(ofRoot: file, user: own)?.reason.contains("not a folder") == true)
        #expect(HomeCheck.fault(ofRoot: folder.path, user: own + 1)?.reason.contains("another user") == true)
        #expect(HomeCheck.fault(ofRoot: folder.path, user: own) == nil)
        #expect(HomeCheck.fault(ofRoot: folder / "missing", user: own) == nil)
    }

    @Test("the absent avahi-daemon and other programs on its port are named")
    func responder() {
        let daemon = PortOwners.Owner(user: 0, process: 1, program: "avahi-daemon")
        let other = PortOwners.Owner(user: 0, process: 2, program: "systemd-resolve")
        let hidden = PortOwners.Owner(user: 0)
        #expect(ResponderCheck.findings(daemonFault: nil, [daemon, hidden], embedded: nil).map(\.result) == [.ok])
        let both = ResponderCheck.findings(daemonFault: "it is not running", [other], embedded: nil)
        // Waft's own responder works as well.
        #expect(both.map(\.result) == [.ok, .warning])
        #expect(both.last?.reason.contains("systemd-resolve (process 2)") == true)
        let none = ResponderCheck.findings(
            daemonFault: "it is not running", [], embedded: DiscoveryError(.responderUnavailable, cause: "no library"))
        #expect(none.map(\.result) == [.problem])
    }

    @Test("a port that another program has is a warning, and a problem if the user has set it; systemd is none")
    func port() {
        let other = PortOwners.Owner(user: 0, process: 2, program: "python3")
        let systemd = PortOwners.Owner(user: 0, process: 1, program: "systemd")
        #expect(PortCheck.taken(9_238, false, by: []).result == .ok)
        #expect(PortCheck.taken(9_238, true, by: [systemd]).result == .ok)
        #expect(PortCheck.taken(9_238, false, by: [other, systemd]).result == .warning)
        let set = PortCheck.taken(9_238, true, by: [other])
        #expect(set.result == .problem && set.reason.contains("9238 is taken by python3 (process 2)"))
    }

    @Test("avahi-daemon's own words about the machine are no warning")
    func ownWords() {
        let daemon = PortOwners.Owner(user: 0, process: 1, program: "avahi-daemon")
        for hasWorkstation in [false, true] {
            let told = ResponderCheck.Told(hostName: "study.local", hasWorkstation: hasWorkstation)
            let findings = ResponderCheck.findings(daemonFault: nil, told: told, [daemon], embedded: nil)
            #expect(findings.map(\.result) == [.ok])
            #expect(findings.first?.reason.contains("study.local") == true)
            #expect(findings.first?.reason.contains("hardware address") == hasWorkstation)
        }
    }

    @Test("a cable that is out is named: as the fault if there is no other network, beside the others if there is")
    func carrier() {
        let interface = NetworkInterface(index: 2, name: "wlan0", isLoopback: false)
        let address = ServiceAddress(bytes: [192, 0, 2, 1], host: "192.0.2.1", interface: interface, port: 1)
        let link = LocalLink(interface: interface, addresses: [address].compactMap(\.self))
        let alone = InterfacesCheck.finding([], unplugged: ["eth0"], scene.settings)
        #expect(alone.result == .problem && alone.reason == "no carrier on eth0")
        let beside = InterfacesCheck.finding([link], unplugged: ["eth0"], scene.settings)
        #expect(beside == .ok("wlan0, without eth0 (no carrier)"))
        #expect(InterfacesCheck.finding([link], unplugged: ["docker0"], scene.settings) == .ok("wlan0"))
    }

    @Test("an interface that skipInterfaces leaves out, or that has no address, is none")
    func interfaces() {
        let interface = NetworkInterface(index: 2, name: "eth0", isLoopback: false)
        let address = ServiceAddress(bytes: [192, 0, 2, 1], host: "192.0.2.1", interface: interface, port: 1)
        let link = LocalLink(interface: interface, addresses: [address].compactMap(\.self))
        var settings = scene.settings
        #expect(InterfacesCheck.finding([link], settings).result == .ok)
        #expect(InterfacesCheck.finding([], settings).result == .problem)
        #expect(InterfacesCheck.finding([LocalLink(interface: interface, addresses: [])], settings).result == .problem)
        settings.skipInterfaces = ["eth*"]
        #expect(InterfacesCheck.finding([link], settings).reason.contains("skipInterfaces (eth*) leaves out eth0"))
        settings.discovery = false
        #expect(InterfacesCheck.finding([link], settings).result == .warning)
    }

    @Test("the findings come in the order of the checks, and a home that cannot be used is the first")
    func examine() async throws {
        struct Check: DoctorCheck {
            let name: String
            func findings(_ scene: DoctorScene) async -> [DoctorFinding] { [.ok("1"), .warning("2", hint: "do it")] }
        }
        let lines = await Doctor.examine(scene, [Check(name: "a"), Check(name: "b")])
        #expect(lines.map(\.name) == ["a", "a", "b", "b"] && lines.map(\.result) == [.ok, .warning, .ok, .warning])
        #expect(lines.map(\.hint) == [nil, "do it", nil, "do it"])
    }

    @Test("a word that is no peer is refused before anything is looked at")
    func peer() async {
        let error = await #expect(throws: WaftError.self) {
            try await Doctor.examine([:], peer: "") { _, _ in Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
        }
        #expect(error?.code == .usage && error?.reason.hasPrefix("--peer: ") == true)
    }

    @Test("a running receiver is asked, and one that gives no status cannot be")
    func receiver() async throws {
        let kitchen = try Kitchen(jobs: 0)
        let environment = ["WAFT_HOME": kitchen.folder.path]
        let logger = { @Sendable (_: Home, _: Settings) in Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
        let status = StatusLine(
            name: "kitchen", id: "", port: 1, inbox: "/", accept: "ask", discovery: "off", free: nil,
            waitingOffers: 0, activeTransfers: 0, processID: 1, hook: nil)
        try await kitchen.withReceiver { _ in
            .status(status)
        } _: {
            let scene = await DoctorScene.look(environment, peer: nil, logger: logger)
            #expect(scene.isTrusted && scene.status == status)
            let answer = try await kitchen.waft.status()
            #expect(answer == status)
        }
        try await kitchen.withReceiver { _ in
            .done
        } _: {
            guard case .silent = await DoctorScene.look(environment, peer: nil, logger: logger).receiver else {
                Issue.record("the receiver has given a status")
                return
            }
            await #expect(throws: WaftError(.unexpected, "the receiver gave no status")) {
                try await kitchen.waft.status()
            }
        }
        try "port: many\n".write(toFile: kitchen.home.configurationFile, atomically: true, encoding: .utf8)
        let scene = await DoctorScene.look(environment, peer: nil, logger: logger)
        #expect(scene.settingsFault?.contains("port should be") == true && scene.status == nil)
    }
}
