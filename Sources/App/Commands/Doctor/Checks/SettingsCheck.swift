import Endpoints
import Receiving
import Settings
import Sharing

/// The settings of the file and of the environment.
struct SettingsCheck: DoctorCheck {
    let name = "settings"

    func findings(_ scene: DoctorScene) async -> [DoctorFinding] {
        guard scene.isTrusted, let home = scene.home else { return [] }
        if let fault = scene.settingsFault {
            return [.problem(fault, hint: "correct it; until then no command works, and no receiver starts")]
        }
        let faults = SettingsJudge(home).faults(of: scene.settings)
        guard faults.isEmpty else {
            return faults.map { fault in
                .problem(
                    fault.text,
                    hint: fault.kind == .file
                        ? "correct it; until then no receiver starts" : "bring it back, or change it")
            }
        }
        if scene.settings.accept == .none {
            return [
                .warning(
                    "accept is none: every offer that no rule and no contact's policy accepts is declined",
                    hint: "set accept to ask in \(home.configurationFile)")
            ]
        }
        return [.ok(home.configurationFile)]
    }
}
