import HandlerCatalog
import Receiving
import Settings

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
