import Control
import DBusClient
import Desktop
import HandlerCatalog
import HookSandbox
import Lines
import Receiving
import Settings
import SystemCalls

/// The program that shows notifications on the desktop.
struct NotificationCheck: DoctorCheck {
    let name = "notifications"

    private static let answering: Duration = .seconds(2)

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.settings.notifications != .off else { return [.ok("off (notifications in config.yaml)")] }
        guard DesktopSession.hasDisplay(scene.environment) else {
            return [.ok("no desktop here: offers are answered by waft offers, waft accept N")]
        }
        let hint = "offers are answered by: waft offers, waft accept N; to have none: notifications: false"
        guard let address = BusAddress.session(scene.environment) else {
            return [.warning("no session bus is known, so offers are not shown on the desktop", hint: hint)]
        }
        do {
            let bus = try await BusClient.connect(
                to: address, limits: BusLimits(messageBytes: 65_536), timeout: Self.answering)
            if try await bus.isOwned("org.freedesktop.Notifications", timeout: Self.answering) {
                return [.ok("a notification service runs")]
            }
            return [
                .warning(
                    "no notification service runs, so offers are not shown on the desktop",
                    hint: "install and start one, such as dunst or mako; \(hint)")
            ]
        } catch {
            return [.warning("the session bus cannot be reached: \(error)", hint: hint)]
        }
    }
}

/// Whether logind lets Waft keep the machine awake during transfers.
struct AwakeCheck: DoctorCheck {
    let name = "awake"
    /// Asks logind.
    var probe: @Sendable () async -> WakeRefusal? = { await WakeRefusal.probe() }

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.settings.inhibitsSleep else { return [.ok("off (inhibitSleep in config.yaml)")] }
        // The receiver may run in another session, for which logind answers otherwise.
        if let fault = scene.status?.wakeFault { return [.warning(fault, hint: Self.hint)] }
        if let refusal = await probe() { return [.warning(refusal.words, hint: Self.hint)] }
        return [.ok("nothing keeps Waft from keeping the machine awake during transfers")]
    }

    private static let hint =
        "an active session at the machine may do it; for another one, allow org.freedesktop.login1.inhibit-block-sleep "
        + "and inhibit-block-idle in polkit; to do without: waft config set inhibitSleep false"
}

/// The programs of the installed handlers, and of the configuration.
struct HandlersCheck: DoctorCheck {
    let name = "handlers"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted, let home = scene.home else { return [] }
        let faults = SettingsJudge(home).handlerFaults(scene.settings).map {
            DoctorFinding.problem($0, hint: "bring it back, or remove the handler; see: waft handlers")
        }
        let snapshot = home.handlerCatalog(scene.settings).load()
        let bundles = snapshot.bundles.filter(snapshot.isEnabled).compactMap { bundle in
            Self.silence(
                "the handler \(bundle.name)", [bundle.executable].compactMap(\.self) + bundle.launch.readablePaths,
                bundle.launch, scene.environment,
                hint: { "add WaftEnvironment with \($0) to \(bundle.path)/Info.plist" })
        }
        let settings = scene.settings
        let programs = [("hook", settings.hook), ("arbiter", settings.arbiter), ("outbox hook", settings.outboxHook)]
        let hooks = programs.compactMap { name, path in
            path.flatMap {
                Self.silence(
                    "the \(name)", [$0], settings.hookRules, scene.environment,
                    hint: { "add hookEnvironment: [\($0)] to config.yaml" })
            }
        }
        return faults + bundles + hooks
    }

    /// A program that names variables that it does not get.
    private static func silence(
        _ program: String, _ paths: [String], _ rules: LaunchRules, _ environment: [String: String],
        hint: (String) -> String
    ) -> DoctorFinding? {
        let variables = ProgramVariables(rules)
        let missing = Set(paths.flatMap { ScriptVariables.missing(in: $0, variables, of: environment) }).sorted()
        guard !missing.isEmpty else { return nil }
        let names = missing.joined(separator: ", ")
        return .warning(
            "\(program) names \(names), and does not get \(missing.count == 1 ? "it" : "them") from the receiver",
            hint: "if it needs \(missing.count == 1 ? "it" : "them"): \(hint(names))")
    }
}

/// The variables of an environment that a script names, and does not get.
enum ScriptVariables {
    /// Bytes of a script that is read; a longer program is passed over.
    private static let limit = 256 << 10
    /// Those that every shell sets itself.
    private static let ofShells: Set<String> = [
        "PWD", "OLDPWD", "SHLVL", "_", "IFS", "PS1", "PS4", "OPTIND", "HOSTNAME",
    ]

    /// - Parameters:
    ///   - path: of a program; one that is no script names none.
    ///   - variables: those that the program gets.
    /// - Returns: the names in order.
    static func missing(
        in path: String, _ variables: ProgramVariables, of environment: [String: String]
    ) -> [String] {
        guard let bytes = try? SmallFile.read(path, limit: limit), bytes.starts(with: "#!".utf8) else { return [] }
        let text = String(decoding: bytes, as: UTF8.self)
        return environment.keys.filter { name in
            ProgramVariables.flaw(of: name) == nil && !variables.includes(name) && !ofShells.contains(name)
                && names(text, name)
        }.sorted()
    }

    /// Whether the text uses the variable as a shell does (`$NAME`, `${NAME`), or as a text in quotes (`environ["NAME"]`), and
    /// does not set it itself.
    private static func names(_ text: String, _ name: String) -> Bool {
        let isWord = { (character: Character?) in
            character.map { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) } == true
        }
        var isUsed = false
        for range in text.ranges(of: name) {
            let next = range.upperBound < text.endIndex ? text[range.upperBound] : nil
            let before = text[..<range.lowerBound]
            guard !isWord(next), !isWord(before.last) else { continue }
            if next == "=" { return false }
            let isQuoted = before.last == next && (next == "\"" || next == "'")
            if before.hasSuffix("$") || before.hasSuffix("${") || isQuoted { isUsed = true }
        }
        return isUsed
    }
}

/// The parts of the kernel that restrict handlers.
struct SandboxCheck: DoctorCheck {
    let name = "sandbox"
    /// Asks the kernel.
    var support: @Sendable () -> HookSandbox.Support = { HookSandbox.support }

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        let support = support()
        if support.abi == 0, scene.settings.requiresSandbox {
            return [
                .problem(
                    "\(support); handlers are not run, because sandbox is require",
                    hint: "use a kernel with Landlock (boot option lsm=landlock,…), or set sandbox to prefer")
            ]
        }
        if !support.gaps.isEmpty {
            return [
                .warning(
                    "\(support)",
                    hint: "use a newer kernel with Landlock, or install only handlers that you trust with everything")
            ]
        }
        return [.ok("\(support)")]
    }
}

/// Whether what arrives is sealed. A remark: neither answer is a fault.
struct ProtectionCheck: DoctorCheck {
    let name = "protection"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted, let home = scene.home else { return [] }
        guard ProtectionSuggestion.isSetUp(home) else {
            return [.ok("not set up: " + ProtectionSuggestion.lines.joined(separator: "; "))]
        }
        return [.ok(scene.status?.protectionWords ?? "set up")]
    }
}
